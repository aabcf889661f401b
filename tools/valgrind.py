"""Runs tests of memory under valgrind's memcheck: `tox -e valgrind`, or `tox -e valgrind -- tests/test_table.py`.

It finds what AddressSanitizer does not: the use of uninitialized values, also where other libraries use them in
godlpack's memory. All errors count, with three exceptions. Go's runtime reads whole stacks, and glibc compares 32 bytes
at a time (tools/valgrind.supp). CPython reads a digit that an int does not have, and multiplies it by 0; valgrind takes
all that depends on it for uninitialized: an error in CPython counts if godlpack's C code is among the innermost calls.
Leaks count if godlpack's C code allocated the memory. Children are not checked, so builds take no longer. Unless tests
are named, a test runs with one of its sets of parameters: all of them take hours. `GODLPACK_SETS=0 tox -e valgrind`
runs all.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import extension

TESTS = ["buffer", "device", "dlpack_method", "dtype", "from_dlpack", "malformed_input", "numpy", "pickle"]
TESTS += ["parity", "table", "tensor", "functions"]
FLAGS = ["--error-limit=no", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
FLAGS += ["--num-callers=30", "--fullpath-after=", "--max-threads=2000", "--keep-debuginfo=yes"]
FLAGS += [f"--suppressions={extension.ROOT / 'tools' / 'valgrind.supp'}"]
OURS = re.compile(f"{re.escape(str(extension.ROOT))}/(internal/cpython|library|tvmffi)/\\w+\\.c:")
PYTHON = re.compile(r"^ +at 0x\w+: .*(/Objects/|/Python/|/Modules/|/Include/|libpython|/bin/python)", re.MULTILINE)
CLOSE = 6  # lines of a report: the error, and the innermost calls
PREFIX = re.compile(r"^==\d+== ?", re.MULTILINE)


def counts(report: str) -> bool:
    """Whether a report counts: an error in godlpack's code, or with its memory."""
    if " lost in loss record" in report:
        return bool(OURS.search(report))
    if "uninitialised" in report and PYTHON.search(report):
        return bool(OURS.search("\n".join(report.splitlines()[:CLOSE])))
    return True


def reports(log: Path) -> list[str]:
    """The reports of a log that count."""
    parts = [part.strip("\n") for part in re.split(r"\n\n+", PREFIX.sub("", log.read_text()))]
    return [part for part in parts if re.search(r"^ +at 0x", part, re.MULTILINE) and counts(part)]


def main() -> int:
    if not shutil.which("valgrind"):
        print("there is no valgrind here, so it is skipped", file=sys.stderr)
        return 0
    tests = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    with extension.built(CGO_CFLAGS="-O1 -g") as folder:
        log = folder / "valgrind.log"
        environment = {"PYTHONPATH": str(folder), "PYTHONMALLOC": "malloc", "GODLPACK_FUZZ": "200"}
        if not sys.argv[1:]:
            environment["GODLPACK_SETS"] = os.environ.get("GODLPACK_SETS", "1")
        command = ["valgrind", *FLAGS, f"--log-file={log}", sys.executable, "-P", "-m", "pytest", "-q", *tests]
        status = subprocess.run(command, cwd=extension.ROOT, env=os.environ | environment).returncode
        found = reports(log)
        summary = [line for line in PREFIX.sub("", log.read_text()).splitlines() if line.startswith("ERROR SUMMARY")]
    print(*found, sep="\n\n")
    print(f"{len(found)} reports count;", *summary)
    return status or bool(found)


if __name__ == "__main__":
    sys.exit(main())
