"""Runs tests so that each is repeated, and fails if it leaves references or memory behind each time: `tox -e refs`, or
`tox -e refs -- tests/test_numpy.py`. tests/references.py counts. Of a test with more sets of parameters it takes 3 unless tests are
named: what is left behind is rarely a matter of the dtype, and all of them take hours. `GODLPACK_SETS=0 tox -e refs` takes all.

It does so on a debug build of the same Python where one can be had, whose interpreter checks how it is called: an
exception that is pending where none may be ends the process there. A python3.11-dbg that is installed will do; else
Debian's packages are unpacked beside the virtual environment, without being installed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = "{}.{}".format(*sys.version_info)
UNPACKED = Path(sys.prefix) / "debug"

# Not those that fill much memory, start other processes, or show how bad producers end.
TESTS = [
    "buffer",
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
TESTS += ["rules", "table", "tensor", "threads", "torch", "tvm_ffi", "functions", "go_library", "references", "leaks"]


def fetched() -> Path:
    """The debug build in Debian's packages, unpacked."""
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
    """A debug build of this version of Python that runs."""
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
    packages = [path for path in sys.path[1:] if not path.startswith(sys.base_prefix)]  # a standard library it has
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
        "references",
        *arguments,
    ]
    return subprocess.run(command, cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
