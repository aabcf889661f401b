"""Runs tests against a module built with AddressSanitizer: `tox -e asan`, or `tox -e asan -- tests/test_table.py`.

The sanitizer watches the C code, and Go where it touches C memory. What is held too long is found by the tests' own
scoreboard; LeakSanitizer would report Python itself.

By default this is a bounded part, of a minute or two: 10,000 random records, and no tests that load frameworks. All
records: `GODLPACK_FUZZ=1000000 tox -e asan -- tests/test_hostile.py -k random_records`, about 20 minutes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
TESTS = ["hostile", "from_dlpack", "dlpack_method", "table", "buffer", "numpy", "pickle", "lifetime"]
RECORDS = "10000"
BYTES = "tests/test_lifetime.py::test_bytes_stay"  # the sanitizer keeps freed memory a while
FRAMEWORKS = [  # torch and jax take most of a minute to load under the sanitizer
    "tests/test_lifetime.py::test_after_finalization_of_others",
    "tests/test_lifetime.py::test_exit_with_tensors_of_others",
    "tests/test_lifetime.py::test_foreign_thread_lets_go_of_frameworks",
]


def library(name: str) -> str:
    """Where the C compiler has its run-time library of that name."""
    command = [os.environ.get("CC", "cc"), f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    with TemporaryDirectory(prefix="godlpack-asan-") as folder:
        package = Path(folder, "godlpack")
        shutil.copytree(ROOT / "python" / "godlpack", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        module = package / "_core.abi3.so"
        build = ["go", "build", "-asan", "-buildmode=c-shared", "-buildvcs=false", "-o", str(module), "./pyext/core"]
        subprocess.run(build, cwd=ROOT, check=True)
        env = os.environ | {
            "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",  # torch wants its own libstdc++ later
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONMALLOC": "malloc",
            "PYTHONPATH": folder,
        }
        env.setdefault("GODLPACK_FUZZ", RECORDS)
        tests = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
        unwanted = [BYTES] if sys.argv[1:] else [BYTES, *FRAMEWORKS]
        tests += [f"--deselect={name}" for name in unwanted]
        return subprocess.run([sys.executable, "-P", "-m", "pytest", "-q", *tests], cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
