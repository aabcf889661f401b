"""Runs tests of threads against a module whose C code is checked by ThreadSanitizer: `tox -e tsan`.

Go's compiler reports each crossing between C and Go to the sanitizer, so it detects synchronization between the two;
races within Go are tested by `tox -e embedtest`. Python and the frameworks are not instrumented, but the sanitizer
understands their locks: the GIL is a mutex and a condition variable. Only reports with godlpack's C code count, except
those in tools/tsan.supp.

Tests run without forks: the sanitizer does not support children of a process with threads. Tests that leave a call are
left out: the sanitizer delivers a signal when the thread next enters the C library, which a function that loops does
not do.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import extension
from asan import FRAMEWORKS, library

TESTS = ["threads", "lifetime", "table", "dlpack_method", "from_dlpack", "functions", "go_library"]
FLAGS = "-fsanitize=thread"
LEFT = ["tests/test_functions.py::test_call_is_left"]
OURS = re.compile(f"{re.escape(str(extension.ROOT))}/(internal/cpython|library|tvmffi)/")


def findings(folder: Path) -> Iterator[str]:
    """The reports of all processes that contain godlpack's code, and fatal errors."""
    for report in folder.glob("report.*"):
        for part in report.read_text().split("=================="):
            if re.search("(ERROR|FATAL): ThreadSanitizer", part) or (
                "WARNING: ThreadSanitizer" in part and OURS.search(part)
            ):
                yield part.strip()


def main() -> int:
    tests = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    unwanted = [] if sys.argv[1:] else [*FRAMEWORKS, *LEFT]
    build = {"CGO_CFLAGS": f"-O1 -g -fno-omit-frame-pointer {FLAGS}", "CGO_LDFLAGS": FLAGS}
    with extension.built(**build) as folder:
        status = extension.test(
            folder,
            *tests,
            *(f"--deselect={name}" for name in unwanted),
            **build,
            LD_PRELOAD=library("libtsan.so"),
            TSAN_OPTIONS=f"exitcode=0:log_path={folder}/report:report_signal_unsafe=0:die_after_fork=0:history_size=7"
            ":handle_segv=0:handle_sigbus=0:handle_sigfpe=0"  # Go handles these
            ":allocator_may_return_null=1"  # tests request more memory than there is
            f":suppressions={extension.ROOT / 'tools' / 'tsan.supp'}",
        )
        found = list(findings(folder))
    print(*found, sep="\n\n")
    return status or bool(found)


if __name__ == "__main__":
    sys.exit(main())
