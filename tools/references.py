"""Repeats each test, and fails it if every run leaves references or memory behind: `tox -e refs`, or
`tox -e refs -- tests/test_numpy.py`.

tests/helpers/leaks.py counts. Unless tests are named, a test runs with at most 3 of its sets of parameters: leaks rarely
depend on the dtype, and all sets take hours. `GODLPACK_SETS=0 tox -e refs` runs all.

The tests run on a debug build of the same Python if there is one. Its interpreter checks calls of the C API: it ends
the process if an exception is pending where none is allowed. An installed python3.11-dbg is used; else Debian's
packages are unpacked beside the virtual environment, without installing them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = "{}.{}".format(*sys.version_info)
UNPACKED = Path(sys.prefix) / "debug"

# Without tests that use much memory, start other processes, or make bad producers crash.
TESTS = [
    "buffer",
    "classes",
    "device",
    "dlpack_method",
    "dtype",
    "from_dlpack",
    "malformed_input",
    "jax",
    "lifetime",
    "numpy",
    "pickle",
    "parity",
]
TESTS += ["rules", "table", "tensor", "threads", "torch", "tvm_ffi", "functions", "go_library", "references"]


def fetched() -> Path:
    """The debug build, unpacked from Debian's packages."""
    python = UNPACKED / "usr" / "bin" / f"python{VERSION}d"
    if not python.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        UNPACKED.mkdir(exist_ok=True)
        names = [
            f"python{VERSION}-dbg",
            f"libpython{VERSION}-dbg",
            f"libpython{VERSION}-stdlib",
            f"libpython{VERSION}-minimal",
        ]
        subprocess.run(["apt-get", "download", *names], cwd=UNPACKED, check=False)
        for package in UNPACKED.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, UNPACKED], check=True)
            package.unlink()
        shutil.rmtree(UNPACKED / "usr" / "lib" / "debug", ignore_errors=True)
    return python


def debug_build() -> str | None:
    """A debug build of this version of Python that works here; None if there is none."""
    for python in (shutil.which(f"python{VERSION}-dbg"), shutil.which(f"python{VERSION}d"), str(fetched())):
        if python and Path(python).exists():
            asked = subprocess.run([python, "-c", "import sys, ctypes; sys.gettotalrefcount()"], capture_output=True)
            if asked.returncode == 0:
                return python
    return None


def main() -> int:
    python = debug_build()
    if python is None:
        print(f"no debug build of Python {VERSION}: on {sys.executable}, which checks less", file=sys.stderr)
    packages = [path for path in sys.path[1:] if not path.startswith(sys.base_prefix)]  # not the standard library
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *packages]), "GODLPACK_FUZZ": "500"}
    if not sys.argv[1:]:
        env.setdefault("GODLPACK_SETS", "3")
    arguments = sys.argv[1:] or [f"tests/test_{name}.py" for name in TESTS]
    command = [
        python or sys.executable,
        "-P",
        "-X",
        "faulthandler",
        "-m",
        "pytest",
        "-q",
        "-p",
        "helpers.leaks",
        *arguments,
    ]
    return subprocess.run(command, cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
