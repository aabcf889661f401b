"""Mutation test of internal/cpython, capsule or kernel: `python tools/mutate.py internal/cpython --count 100`.

A mutant (tools/mutants.py) is killed if a test fails or hangs. Mutants of kernel run against Go tests (GO_TESTS); those
of other packages against Python's tests, with one module that contains all of them. A first run without mistakes
records which tests reach which mutant; then each mutant runs against those tests only, the shortest first. Survivors
are printed: each needs a test, or an entry in docs/reliability-mutants.md with the reason why no test can detect it.

Mutants are drawn by a seed. --keep names a folder for the module, for what the tests reach, and for the results: the
next run continues from there, and repeats only test files that have changed. --again tries the survivors once more.
"""

import argparse
import hashlib
import json
import mmap
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import mutants
from mutants import Mutant

ROOT = Path(__file__).parents[1]
PRELOADED = ["numpy", "torch", "hypothesis"]  # in the process that forks one for each mutant; not godlpack
KILLERS = {
    "capsule": ["dlpack_method", "from_dlpack", "cuda", "lifetime", "malformed_input", "jax", "numpy", "table", "tensor"],
    "internal/cpython": [
        "buffer", "device", "dlpack_method", "dtype", "from_dlpack", "functions", "go_library", "malformed_input", "lifetime",
        "numpy", "parity", "table", "tensor", "threads",
    ],
}  # fmt: skip
SLOW = {  # further tests against survivors, with --again
    "abandon.c": ["interrupt_twice"],
    "call.c": ["mutation", "launch"],
    "copy.c": ["fork", "state"],
    "faults.c": ["signals"],
    "greenlet.c": ["greenlets"],
    "library.c": ["state", "num_threads", "fork", "workers"],
    "module.c": ["import"],
    "pin.c": ["mutation", "mutation_import"],
    "room.c": ["limits"],
    "runtime.c": ["runtime", "fork", "limits", "workers"],
    "signals.c": ["signals", "workers"],
    "table.c": ["launch"],
    "threads.c": ["num_threads"],
}
LAST = ["leaks", "no_memory"]
GO_TESTS = ["kernel", "internal/elementwise", "tvmffi"]
LATE = "not tried"
FIRST, FILES = 40, 3  # a mutant first runs against this many tests, from this many files
MEMORY = 8 << 30


class Reached:
    """A pytest plugin that records, for each test that passes, its duration and the mutants that it reaches."""

    def __init__(self, memory: mmap.mmap, found: dict[str, Any]) -> None:
        self.memory, self.found, self.began, self.imported = memory, found, 0.0, list[int]()
        self.failed = set[str]()

    def so_far(self) -> list[int]:
        numbers = [n for n, asked in enumerate(self.memory[:]) if asked]
        self.memory[:] = bytes(len(self.memory))
        return numbers

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.imported += self.so_far()
        self.began = time.monotonic()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        numbers = sorted({*self.so_far(), *self.imported})
        if nodeid not in self.failed:
            self.found[nodeid] = [round(time.monotonic() - self.began, 3), numbers]


class Chosen:
    """A pytest plugin that runs these tests in this order, and records the one that failed."""

    def __init__(self, tests: list[str], said: Path) -> None:
        self.rank, self.said = {test: i for i, test in enumerate(tests)}, said

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.rank), key=lambda item: self.rank[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.said.write_text(report.nodeid)


def forked(work: Callable[[], int], output: Path, timeout: float) -> int | None:
    """Runs work in a child, and kills its whole process group at the end. The exit status; None after a time-out."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.setsid()
            fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(fd, 1)
            os.dup2(fd, 2)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            status = work()
            sys.stdout.flush()
        finally:
            os._exit(status)
    deadline, status = time.monotonic() + timeout, None
    while status is None and time.monotonic() < deadline:
        time.sleep(0.02)
        done, how = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(how) if done else None
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
    return status


class ByPython:
    """Mutants in the module, against Python's tests."""

    def __init__(self, package: str, keep: Path, chosen: dict[int, Mutant], slow: bool) -> None:
        self.slow, self.keep, self.killers = slow, keep, KILLERS.get(package, KILLERS["internal/cpython"])
        python = keep / "sources" / "python"
        build = ["go", "build", "-buildmode=c-shared", "-o", str(python / "godlpack" / "_core.abi3.so"), "./pyext/core"]
        self.chosen = compilable(keep, chosen, [build])
        os.environ["PYTHONPATH"] = str(python)
        sys.path[:0] = [str(python), str(ROOT / "tests")]
        for name in PRELOADED:
            __import__(name)
        self.tests = {name: self.reached(name) for name in self.killers}

    def reached(self, name: str) -> dict[str, Any]:
        """The duration of each test of a file, and the mutants that it reaches."""
        file = ROOT / "tests" / f"test_{name}.py"
        which = sorted((n, m.file, m.line, m.wrong) for n, m in self.chosen.items())
        key = hashlib.sha256(file.read_bytes() + repr(which).encode()).hexdigest()[:16]
        known = self.keep / f"{file.stem}-{key}.json"
        if not known.exists():
            memory = self.keep / "reached"
            memory.write_bytes(bytes(1 << 16))

            def work() -> int:
                os.environ["GODLPACK_MUTANTS_REACHED"] = str(memory)
                found: dict[str, Any] = {}
                with memory.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as shared:
                    status = self.pytest([file.relative_to(ROOT).as_posix()], Reached(shared, found))
                known.write_text(json.dumps(found))
                return status

            output = self.keep / f"{name}.output"
            if status := forked(work, output, 1800):
                print(f"without a mistake {file.name} fails: {status}\n{output.read_text()[-2000:]}", flush=True)
        return json.loads(known.read_text()) if known.exists() else {}

    def pytest(self, files: list[str], *plugins: object) -> int:
        import pytest

        os.environ["GODLPACK_FUZZ"] = "300"
        return int(pytest.main(["-q", "-p", "no:cacheprovider", *files], plugins=list(plugins)))

    def killed(self, number: int, patience: float) -> str | None:
        """What killed it: the name of a test or a time-out; "" if it survived; None if no test reaches it."""
        by = self.killed_by(number, self.killers, patience)
        for name in [*SLOW.get(Path(self.chosen[number].file).name, []), *LAST] if self.slow else []:
            if by:
                break
            if name not in self.tests:
                self.tests[name] = self.reached(name)
            found = self.killed_by(number, [name], patience)
            by = by if found is None else found
        return by

    def killed_by(self, number: int, names: list[str], patience: float) -> str | None:
        tests = ((test, *of) for name in names for test, of in self.tests[name].items())
        reaching = sorted((seconds, test) for test, seconds, numbers in tests if number in numbers)
        if not reaching:
            return None
        files = [file for file, _ in Counter(test.split("::")[0] for _, test in reaching).most_common(FILES)]
        first = [(seconds, test) for seconds, test in reaching if test.split("::")[0] in files][:FIRST]
        rest, total = [], 0.0
        for seconds, test in reaching:
            if (seconds, test) not in first and total < patience:
                rest.append((seconds, test))
                total += seconds
        return next((by for part in (first, rest) if part and (by := self.fails(number, part))), "")

    def fails(self, number: int, tests: list[tuple[float, str]]) -> str:
        said = self.keep / f"{number}.failed"
        said.unlink(missing_ok=True)
        names = [test for _, test in tests]

        def work() -> int:
            os.environ["GODLPACK_MUTANT"] = str(number)
            return self.pytest(["-x", *dict.fromkeys(name.split("::")[0] for name in names)], Chosen(names, said))

        status = forked(work, self.keep / f"{number}.output", 60 + 10 * sum(seconds for seconds, _ in tests))
        if status == 0:
            return ""
        return "a time-out" if status is None else said.read_text() if said.exists() else f"exit status {status}"


class ByGo:
    """Mutants in kernel, against the Go tests of GO_TESTS."""

    def __init__(self, package: str, keep: Path, chosen: dict[int, Mutant], slow: bool) -> None:
        self.keep = keep
        self.chosen = compilable(
            keep, chosen, [["go", "test", "-c", "-o", f"{keep}/{p}.test", f"./{p}"] for p in GO_TESTS]
        )
        self.memory = keep / "reached"
        self.memory.write_bytes(bytes(1 << 16))
        if by := self.killed(0, 0):
            raise SystemExit(f"without a mistake {by} fails")
        self.reached = {n for n, asked in enumerate(self.memory.read_bytes()) if asked}

    def killed(self, number: int, patience: float) -> str | None:
        if number and number not in self.reached:
            return None
        return next((by for package in GO_TESTS if (by := self.fails(package, number))), "")

    def fails(self, package: str, number: int) -> str:
        output = self.keep / f"{number}.output"
        variable = ("GODLPACK_MUTANT", str(number)) if number else ("GODLPACK_MUTANTS_REACHED", str(self.memory))

        def work() -> int:
            return subprocess.run(
                [f"{self.keep}/{package}.test", "-test.failfast"], cwd=ROOT / package, env=os.environ | dict([variable])
            ).returncode

        if (status := forked(work, output, 60)) == 0:
            return ""
        failed = re.search(r"--- FAIL: (\S+)", output.read_text(errors="replace"))
        return "a time-out" if status is None else f"{package}: {failed[1] if failed else status}"


def compilable(keep: Path, chosen: dict[int, Mutant], builds: list[list[str]]) -> dict[int, Mutant]:
    """Builds all mutants, and returns those that compile."""
    sources = keep / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    shutil.copytree(ROOT, sources, ignore=shutil.ignore_patterns(".*", "*.so", "__pycache__", "shared"))
    files = {m.file for m in chosen.values()}
    while True:
        for file in files:  # including files of which no mutant compiles
            shutil.copyfile(ROOT / file, sources / file)
        mutants.lay_out(ROOT, sources, chosen)
        said = ""
        for build in builds:
            command = [*build[:2], "-buildvcs=false", "-gcflags=godlpack/...=-e", *build[2:]]
            done = subprocess.run(command, cwd=sources, capture_output=True, text=True)
            said += done.stderr if done.returncode else ""
        if not said:
            return chosen
        wrong = {(m[1], int(m[2]) - 1) for m in re.finditer(r"(\w+\.(?:c|go)):(\d+):\d+: (?!warning|note)", said)}
        lines = [(Path(m.file).name, m.line) for m in chosen.values()]
        nearest = {max((at for at in lines if at[0] == file and at[1] <= line), default=None) for file, line in wrong}
        if not nearest - {None}:
            raise SystemExit(said)
        chosen = {n: m for n, m in chosen.items() if (Path(m.file).name, m.line) not in nearest}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="internal/cpython, capsule, kernel, or another that the module has")
    parser.add_argument("--file", default="", help="only this one of its files")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600, help="begin no mutant after so long")
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants at a time")
    parser.add_argument("--patience", type=float, default=60, help="seconds of tests that a mutant lives through")
    parser.add_argument("--keep", type=Path, default=Path(".mutants"))
    parser.add_argument(
        "--again", action="store_true", help="only what is known to live, with slow tests against it, too"
    )
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    keep = (options.keep / options.package).resolve()
    keep.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    results = keep / "results.jsonl"
    known = {r["name"]: r for r in map(json.loads, results.read_text().splitlines())} if results.exists() else {}
    files = sorted((ROOT / options.package).glob("*.c")) or sorted((ROOT / options.package).glob("*.go"))
    files = [f for f in files if f.name.endswith(options.file) and not f.name.endswith("_test.go")]
    named = mutants.mutants_of(ROOT, files)
    drawn = random.Random(options.seed).sample(sorted(named), min(options.count, len(named)))
    names = dict(enumerate(drawn, 1))
    kind = ByGo if options.package == "kernel" else ByPython
    runner = kind(options.package, keep, {n: named[name] for n, name in names.items()}, options.again)
    print(f"{len(runner.chosen)} of {len(drawn)} drawn mutants compile, of {len(named)}", flush=True)
    wanted = [
        n
        for n in runner.chosen
        if (names[n] in known and not known[names[n]]["by"] if options.again else names[n] not in known)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda n: runner.killed(n, options.patience) if time.monotonic() < end else LATE, wanted)
        for number, by in zip(wanted, found, strict=True):
            if by == LATE:
                continue
            name, mutant = names[number], runner.chosen[number]
            known[name] = {"name": name, "line": mutant.line + 1, "by": by}
            with results.open("a") as opened:
                opened.write(json.dumps(known[name]) + "\n")
            if not by:
                how = "no test reaches it" if by is None else "lives"
                print(f"{mutant.file}:{mutant.line + 1}: {how}: {mutant.what}: {mutant.wrong}", flush=True)
    tried = [known[names[n]]["by"] for n in runner.chosen if names[n] in known]
    print(f"{sum(map(bool, tried))} of {len(tried)} mutants killed, {tried.count(None)} of which no test reaches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
