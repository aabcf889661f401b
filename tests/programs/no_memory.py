"""Makes allocations of godlpack fail one by one: tests/test_no_memory.py runs this process, and evaluates its output.

It runs an operation with its first, second, ... allocation failing, until there are no more. It prints JSON lines: what
it is about to do, what was wrong, and how many allocations there were. `each` runs all operations of operations.py; the
other ways test the first entry into Go, in a forked child for each allocation.
"""

import ctypes
import gc
import json
import os
import sys
import time
import traceback
from itertools import count

import godlpack as gd
from helpers import operations
from helpers.leaks import Books, leak

OURS = ("_core.abi3", "sample.so", "classes.so", "memfd:godlpack", "/proc/self/fd")


class Allocations:
    """Controls testdata/failing.c, which is preloaded into this process."""

    def __init__(self):
        self.c = ctypes.PyDLL(None)
        self.c.fail_watch(":".join(OURS).encode())

    def attempt(self, operation, first, forever, threads=False):
        """How an operation ends if its allocation of that number fails, or all from there on: a plain result or an
        exception. And whether an allocation failed."""
        self.c.fail_arm(ctypes.c_long(first), forever, threads)
        try:
            ended = operation()
            failed = self.c.fail_disarm()
        except BaseException as error:
            failed = self.c.fail_disarm()
            return error.with_traceback(None), bool(failed)
        return operations.plain(ended), bool(failed)


def say(**what):
    print(json.dumps(what), flush=True)


def owed():
    counters = gd._core._counters()
    pairs = (
        ("storages_made", "storages_freed"),
        ("exports_made", "exports_deleted"),
        ("imports_taken", "imports_deleted"),
    )
    return [counters[made] - counters[gone] for made, gone in pairs]


def is_right(ended, expected):
    return isinstance(ended, MemoryError) or (type(ended) if isinstance(ended, Exception) else ended) == expected


def judge(allocations, operation, expected, first, forever, books, objects):
    """What is wrong after one failure, "" if nothing; None if there is no allocation of that number. objects: how many
    objects of Go Python has more than all operations share."""
    before = [*owed(), 0]
    ended, failed = allocations.attempt(operation, first, forever)
    if not failed:
        return None
    if not is_right(ended, expected):
        return f"ended with {ended!r}, not with {expected} or MemoryError"
    del ended
    for patience in (0, 0.01, 0.1, 1):  # jax and Go release on their own threads
        after = [*owed(), objects()]
        if after == before:
            break
        gc.collect()
        time.sleep(patience)
    else:
        return f"owed {before} before, {after} after"
    return leak(lambda: allocations.attempt(operation, first, forever), books)


def each(forever, sample, classes, functions, frameworks, behind=None):
    """Fails each allocation of all operations after the named one."""
    allocations = Allocations()
    library = gd.load_module(sample, package="sample")
    sys.modules["sample"] = library  # for pickle
    sys.modules["classes"] = types = gd.load_module(classes, package="classes")
    every = operations.all_operations(library, gd.load_module(functions), types, frameworks.split(","))
    names, shared = list(every), types.held()
    gc.collect()
    gc.freeze()
    for name in names[names.index(behind) + 1 if behind else 0 :]:
        operation = every[name]
        for _ in range(3):  # until everything that is made only once exists
            expected = operations.outcome(operation)
        books = Books([*operations.owned(operation), *vars(gd).values()])
        for first in count(1):
            say(at=name, point=first)
            wrong = judge(allocations, operation, expected, first, forever, books, lambda n=shared: types.held() - n)
            if wrong is None:
                break
            if wrong:
                say(wrong=wrong, name=name, point=first)
                shared = types.held()  # what is lost is reported once
        if operations.outcome(operation) != expected:
            say(wrong="it works no more afterwards", name=name, point=first)
        say(done=name, points=first - 1)


def in_a_child(do):
    """The result of do() in a forked child, or how the child ended."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(writing, json.dumps(do()).encode())
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(said) if said else f"the process ended: {os.waitstatus_to_exitcode(status)}"


def first_entry(way, forever, sample, classes):
    """Fails each allocation of the start of Go ("start"), of opening libraries and their first objects ("open"), or of
    either in a child of a process that has done it ("fork", "open, fork"). A library that cannot be opened is an ImportError, and too few
    threads for Go are a RuntimeError."""
    allocations = Allocations()
    library = gd.load_module(sample, package="sample")
    types = gd.load_module(classes, package="classes")

    def call():  # calls libraries, makes their first objects, and creates a function of a new library
        gd._core._function("/" + sample, print, 0, "f", "f", "m", "d", "()", (), 0, 0, False, None)
        return library.divmod(17), types.Index(3).dim

    operation = call if "open" in way else (lambda: gd.asarray(b"abc").tolist())
    expected = in_a_child(lambda: repr(operations.plain(operation())))
    if "fork" in way:
        operation()

    def attempt():
        # Thread creation fails only once: if threads are available when Go may start, and never again, the process
        # ends.
        ended, failed = allocations.attempt(operation, first, forever, threads=not forever)
        if not failed:
            return None
        too_few = isinstance(ended, RuntimeError) and "more are allowed" in str(ended)
        if not (too_few or isinstance(ended, ImportError | MemoryError) or repr(ended) == expected):
            return f"ended with {ended!r}"
        return "" if repr(operations.plain(operation())) == expected else "it works no more afterwards"

    for first in count(1):
        say(at=way, point=first)
        wrong = in_a_child(attempt)
        if wrong is None:
            break
        if wrong:
            say(wrong=wrong, name=way, point=first)
    say(done=way, points=first - 1)


if __name__ == "__main__":
    way, forever, *rest = sys.argv[1:]
    if way == "each":
        each(int(forever), *rest)
    else:
        first_entry(way, int(forever), *rest)
    sys.stdout.flush()
    os._exit(0)
