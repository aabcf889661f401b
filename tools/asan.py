"""Runs tests against a module built with AddressSanitizer: `tox -e asan`, or `tox -e asan -- tests/test_table.py`.

The sanitizer checks the C code, and Go where it accesses C memory, also in libraries of Go functions. At the end of
each process, its LeakSanitizer searches for unreachable memory. Python itself leaks much: only allocations of
godlpack's C code and of such libraries count.

The default is a subset that takes a minute: 10,000 random records, and few tests that load frameworks. For all records,
run `GODLPACK_FUZZ=1000000 tox -e asan -- tests/test_malformed_input.py -k random_records`, about 20 minutes, most of
them in instrumented Go. GODLPACK_ASAN=c checks only the C code, in a tenth of the time, and finds no leaks.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import extension

# Without no_memory, which replaces malloc as the sanitizer does, and without the tests of forks: fork() may copy a lock
# of gcc's sanitizer that another thread holds, and the child hangs in it.
TESTS = ["malformed_input", "from_dlpack", "dlpack_method", "table", "buffer", "numpy", "pickle", "lifetime"]
TESTS += [
    "functions",
    "go_library",
    "classes",
    "exceptions",
    "values",
    "options",
    "attributes",
    "exclusive",
    "shared_results",
    "iterators",
    "sequences",
    "tasks",
    "context",
]
RECORDS = "10000"
C_ALONE = os.environ.get("GODLPACK_ASAN") == "c"
BYTES = "tests/test_lifetime.py::test_bytes_stay"  # the sanitizer delays the reuse of freed memory
CHAINS = "tests/test_lifetime.py::test_long_chain"  # stack frames are several times as large under the sanitizer
CHILDREN = [  # forks, and the end of a process whose daemon thread is in a call
    "tests/test_classes.py::test_fork",
    "tests/test_classes.py::test_pools",
    "tests/test_classes.py::test_data_loader",
    "tests/test_classes.py::test_exit_with_objects",
    "tests/test_attributes.py::test_forked",
    "tests/test_exclusive.py::test_forked",
    "tests/test_shared_results.py::test_fork",
    "tests/test_iterators.py::test_exit_with_open_iterators",
    "tests/test_iterators.py::test_forked",
    "tests/test_tasks.py::test_fork",
    "tests/test_tasks.py::test_exit",
    "tests/test_progress.py::test_a_bar_grows_to_its_end",
    "tests/test_context.py::test_forked",
]
FRAMEWORKS = [  # torch and jax take most of a minute to load under the sanitizer
    "tests/test_lifetime.py::test_after_finalization_of_others",
    "tests/test_lifetime.py::test_exit_with_tensors_of_others",
    "tests/test_lifetime.py::test_foreign_thread_lets_go_of_frameworks",
]
# Stack frames of godlpack, by the debug information, and of memory that a library of Go functions allocated for
# results.
OURS = re.compile(f"{re.escape(str(extension.ROOT))}/internal/cpython/|_Cfunc_calloc ")


def library(name: str) -> str:
    """Path of the C compiler's run-time library of that name."""
    command = [os.environ.get("CC", "cc"), f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def findings(folder: Path) -> Iterator[str]:
    """The reports of all processes that concern godlpack: errors of any kind, and its own leaks."""
    for report in folder.glob("report.*"):
        for part in re.split(r"\n\n", report.read_text()):
            if "ERROR: AddressSanitizer" in part or (" leak of " in part and OURS.search(part)):
                yield part


def module() -> AbstractContextManager[Path]:
    if not C_ALONE:
        return extension.built("-asan")
    watched = "-fsanitize=address"
    return extension.built(CGO_CFLAGS=f"-O2 -g -fno-omit-frame-pointer {watched}", CGO_LDFLAGS=watched)


def main() -> int:
    tests = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    unwanted = [BYTES] if sys.argv[1:] else [BYTES, CHAINS, *CHILDREN, *FRAMEWORKS]
    with module() as folder:
        environment = {
            "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",  # torch loads its own libstdc++ later
            # Leaks, Python's among them, do not change the exit status; an error aborts.
            "ASAN_OPTIONS": f"detect_leaks={int(not C_ALONE)}:exitcode=0:abort_on_error=1:log_path={folder}/report"
            ":allocator_may_return_null=1",  # tests request more memory than there is
            "PYTHONMALLOC": "malloc",
            "GODLPACK_FUZZ": os.environ.get("GODLPACK_FUZZ", RECORDS),
            "GOFLAGS": "" if C_ALONE else "-asan",  # for the libraries that tests build
        }
        status = extension.test(folder, *tests, *(f"--deselect={name}" for name in unwanted), **environment)
        found = list(findings(folder))
    print(*found, sep="\n\n")
    return status or bool(found)


if __name__ == "__main__":
    sys.exit(main())
