"""Runs tests of memory under valgrind's memcheck: `tox -e valgrind`, or `tox -e valgrind -- tests/test_table.py`.

It sees what AddressSanitizer does not: values that were never written, in Python's code and the frameworks' as well, to
which our memory goes. Errors count wherever they are, but for those of tools/valgrind.supp, each with its reason there;
leaks count if our C code allocated what is lost. Children are not watched, so that builds need not be waited for.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import extension

TESTS = [
    "buffer",
    "device",
    "dlpack_method",
    "dtype",
    "from_dlpack",
    "hostile",
    "no_memory",
    "numpy",
    "pickle",
    "points",
]
TESTS += ["table", "tensor", "functions"]
FLAGS = ["--error-limit=no", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
FLAGS += [
    "--num-callers=30",
    "--fullpath-after=",
    "--max-stackframe=20000000000000",
    "--max-threads=2000",
]  # Go's stacks
FLAGS += ["--keep-debuginfo=yes", f"--suppressions={extension.ROOT / 'tools' / 'valgrind.supp'}"]
OURS = re.compile(f"{re.escape(str(extension.ROOT))}/(internal/cpython|library|tvmffi)/")
PART = re.compile(r"^==\d+== ?", re.MULTILINE)


def contexts(log: Path) -> list[str]:
    """The reports of a log that count."""
    parts = [part.strip() for part in re.split(r"\n\n+", PART.sub("", log.read_text()))]
    reports = [part for part in parts if re.search(r"^ +(at|by) 0x", part, re.MULTILINE)]
    return [r for r in reports if " lost in loss record" not in r or OURS.search(r)]


def main() -> int:
    if not shutil.which("valgrind"):
        print("there is no valgrind here, so it is skipped", file=sys.stderr)
        return 0
    tests = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    with extension.built(CGO_CFLAGS="-O1 -g") as folder:
        log = folder / "valgrind.log"
        environment = {"PYTHONPATH": str(folder), "PYTHONMALLOC": "malloc", "GODLPACK_FUZZ": "200"}
        command = ["valgrind", *FLAGS, f"--log-file={log}", sys.executable, "-P", "-m", "pytest", "-q", *tests]
        status = subprocess.run(command, cwd=extension.ROOT, env=os.environ | environment).returncode
        found = contexts(log)
        shutil.copy(log, "/tmp/cover/valgrind.log")
        summary = [line for line in PART.sub("", log.read_text()).splitlines() if line.startswith("ERROR SUMMARY")]
    print(*found, sep="\n\n")
    print(f"valgrind: {len(found)} contexts count;", *summary)
    return status or bool(found)


if __name__ == "__main__":
    sys.exit(main())
