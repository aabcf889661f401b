"""Runs a go command in internal/embedtest, whose tests link the extension and this Python into one Go program:
`python tools/embedtest.py test -race ./...`. `tox -e embedtest` runs it with all dependencies of the tests installed.

Go compiles cpy3 there, which runs pkg-config for "python3". This tool writes the answer, for the Python that runs it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_config_var, get_path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parents[1] / "internal" / "embedtest"

PKG_CONFIG = """\
Name: python3
Description: this Python, for github.com/go-python/cpy3
Version: {version}
Cflags: -I{include} -Wno-deprecated-declarations -include {header}
Libs: -L{libraries} -lpython{version}{abi} -Wl,-rpath,{libraries}
"""


def missing() -> str | None:
    """The reason why this Python cannot be part of a Go program; None if it can."""
    if not Path(get_path("include"), "Python.h").exists():
        return "no Python.h"
    if not get_config_var("Py_ENABLE_SHARED"):
        return "no shared library of Python"
    if not shutil.which(os.environ.get("PKG_CONFIG", "pkg-config")):
        return "no pkg-config"
    return None


def environment(folder: str) -> dict[str, str]:
    """The environment for go; the folder contains pkg-config's answer."""
    text = PKG_CONFIG.format(
        version=get_config_var("py_version_short"),
        abi=sys.abiflags,
        include=get_path("include"),
        libraries=get_config_var("LIBDIR"),
        header=FOLDER / "cpy3.h",
    )
    Path(folder, "python3.pc").write_text(text)
    flags = os.environ.get("CGO_CFLAGS", "-O2 -g")
    return os.environ | {
        "PKG_CONFIG_PATH": folder,
        # Go's build cache ignores the output of pkg-config but not these flags: they separate the builds of each
        # Python.
        "CGO_CFLAGS": f"{flags} -DEMBEDDED_BY={sys.hexversion:#x}",
        "EMBEDDED_PYTHON": sys.executable,
    }


def main() -> int:
    if lack := missing():
        print(f"{sys.executable}: {lack}, so internal/embedtest is skipped", file=sys.stderr)
        return 0
    with TemporaryDirectory(prefix="godlpack-embedtest-") as folder:
        return subprocess.run(["go", *sys.argv[1:]], cwd=FOLDER, env=environment(folder)).returncode


if __name__ == "__main__":
    sys.exit(main())
