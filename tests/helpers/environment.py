"""Virtual environments that have the packages of this one."""

import importlib.util
import os
import sys
import sysconfig
import venv
from pathlib import Path


def create(folder, *, with_pip=True):
    """Makes an environment in a folder; the result is the variables of a process in which it is active."""
    venv.create(folder / "venv", with_pip=with_pip)
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    own = Path(importlib.util.find_spec("godlpack").origin).parents[1]  # of an editable install, the sources
    outside = dict.fromkeys([*(path for path in sys.path if path.endswith("-packages")), str(own)])
    site.joinpath("outside.pth").write_text("\n".join(outside))
    script = folder / "venv" / "bin" / "godlpack"
    script.write_text(f"#!{script.with_name('python')}\nfrom godlpack._tool import main\n\nmain()\n")
    script.chmod(0o755)
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(folder / "venv" / "bin"), sysconfig.get_path("scripts"), os.environ["PATH"]]),
        "GODLPACK_CACHE": str(folder / "cache"),
    }
    env.pop("PYTHONPATH", None)
    return env
