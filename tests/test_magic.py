"""%%go in IPython: cells of Go."""

import pickle
import re
import sys

import pytest

import godlpack as gd
from godlpack import _magic, _tool
from helpers.build import ROOT

interactive = pytest.importorskip("IPython.core.interactiveshell")

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")


@pytest.fixture
def shell(own_cache, monkeypatch, tmp_path):
    """A shell with the magic: run(cell) returns the value of its last line, fails(cell) its error."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # which the shell replaces
    for prompt in ("ps1", "ps2", "ps3"):
        monkeypatch.setattr(sys, prompt, "", raising=False)
    made = interactive.InteractiveShell()

    def run(cell):
        done = made.run_cell(cell, store_history=False)
        done.raise_error()
        return done.result

    def fails(cell):
        done = made.run_cell(cell, store_history=False)
        return done.error_before_exec or done.error_in_exec

    made.run, made.fails = run, fails
    run("%load_ext godlpack")
    yield made
    made.history_manager.end_session()


DOUBLE = "%%go\n//godlpack:export\nfunc Double(x int) int { return 2 * x }\n"


def test_functions(shell):
    shell.run(DOUBLE)
    assert shell.run("double(4)") == 8
    assert shell.run("repr(double)") == "<function cell.double(x)>"
    assert "cell" not in shell.user_ns


def test_classes_and_exceptions(shell):
    shell.run("""%%go
package counts

import "errors"

//godlpack:export base=LookupError
var ErrEmpty = errors.New("nothing to take")

//godlpack:export
type Counter struct{ n int }

//godlpack:new
func NewCounter(n int) *Counter { return &Counter{n} }

//godlpack:export
func (c *Counter) Take() error {
	if c.n == 0 {
		return ErrEmpty
	}
	c.n--
	return nil
}
""")
    shell.run("c = Counter(1)\nc.take()\ntry:\n    c.take()\nexcept EmptyError as error:\n    found = error")
    assert isinstance(shell.user_ns["found"], LookupError)
    assert shell.user_ns["Counter"].__module__ == "counts"


def test_cell_that_is_run_again(shell):
    """New calls go to the new code, and objects and functions that there are keep theirs. Unchanged, the cell keeps its state."""
    cell = """%%go
//godlpack:export
type Thing struct{ n int }

//godlpack:new
func NewThing(n int) *Thing { return &Thing{n} }

//godlpack:export
func (t *Thing) Value() int { made++; return FACTOR * t.n }

var made int

//godlpack:export
func Made() int { return made }
"""
    shell.run(cell.replace("FACTOR", "1"))
    shell.run("old, old_made = Thing(5), made")
    assert shell.run("old.value(), made()") == (5, 1)
    shell.run(cell.replace("FACTOR", "1"))
    assert shell.run("old.value(), made(), made is old_made") == (5, 2, True)
    shell.run(cell.replace("FACTOR", "10"))
    assert shell.run("Thing(5).value(), old.value(), made(), old_made()") == (50, 5, 1, 3)


def test_name(shell):
    shell.run(DOUBLE.replace("%%go", "%%go --name fastops"))
    assert shell.run("fastops.double is double, double.__module__, fastops.__name__") == (True, "fastops", "fastops")


def test_verbose(shell, capsys):
    shell.run(DOUBLE.replace("%%go", "%%go --verbose").replace("2 *", "4 *"))
    assert re.fullmatch(r"godlpack: building cell took [\d.]+ s\n", capsys.readouterr().err)


@pytest.mark.parametrize("clause", ["", "package ops\n\n", "// Package ops is a package.\npackage ops\n"])
def test_build_error(shell, capsys, clause):
    """The compiler's message with the cell's own lines, of which %%go is the first; no traceback."""
    cell = f"%%go\n{clause}\n//godlpack:export\nfunc Double(x int) int {{\n\treturn 2*x + größe\n}}\n"
    capsys.readouterr()
    error = shell.fails(cell)
    assert isinstance(error, gd.BuildError)
    line = 1 + cell.splitlines().index("\treturn 2*x + größe")
    name = "ops" if clause else "cell"
    shown = "".join(capsys.readouterr())
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == (
        f"BuildError: {name}.go:{line}:15: undefined: größe\n    \treturn 2*x + größe\n    \t             ^\n"
    )
    assert "double" not in shell.user_ns


def test_runtime_lines(shell):
    """Also in the stack of a panic."""
    shell.run('%%go\n\n//godlpack:export\nfunc Panic() {\n\tpanic("here")\n}\n')
    assert "cell.go:5" in str(shell.fails("panic()"))


def test_marks():
    """The mark is below the column, which counts bytes; tabs stay, and other lines are as they were."""
    source = "a\n\té := y\n"
    text = "cell.go:2:8: undefined: y\nnote\nother.go:9:1: no such line\ncell.go:2:3: within é"
    assert _magic.with_lines(text, source) == (
        "cell.go:2:8: undefined: y\n    \té := y\n    \t     ^\nnote\nother.go:9:1: no such line\n"
        "cell.go:2:3: within é\n    \té := y\n    \t^"
    )


@pytest.mark.parametrize(
    "options", ["--nam x", "--name", "--name 3x", "--name 'x", "x", "--name x --verbose y", "--help", "--verbose=3"]
)
def test_bad_options(shell, capsys, options):
    error = shell.fails(DOUBLE.replace("%%go", f"%%go {options}"))
    assert isinstance(error, ValueError)
    shown = "".join(capsys.readouterr())
    assert shown.count("\n") == 1
    assert shown.startswith("ValueError: %%go: ")
    assert "want %%go [--name NAME] [--verbose]" in shown


def test_nothing_to_export(shell):
    assert "no function and no type is exported" in str(shell.fails("%%go\nfunc Double(x int) int { return 2 * x }"))


def test_no_go(shell, capsys, monkeypatch):
    monkeypatch.setattr(
        "godlpack._inline.require_go", lambda: (_ for _ in ()).throw(gd.BuildError("no Go: install it"))
    )
    assert isinstance(shell.fails(DOUBLE.replace("2 *", "7 *")), gd.BuildError)
    assert "".join(capsys.readouterr()) == "BuildError: no Go: install it\n"


def test_help(shell):
    found = shell.magics_manager.magics["cell"]["go"]
    assert "%%go [--name NAME] [--verbose]" in found.__doc__


def test_reload_of_the_extension(shell):
    shell.run(DOUBLE)
    shell.run("%reload_ext godlpack")
    shell.run("%load_ext godlpack")
    shell.run(DOUBLE.replace("2 *", "3 *"))
    assert shell.run("double(4)") == 12
    shell.run("import importlib, godlpack; importlib.reload(godlpack)")
    assert shell.run("godlpack.zeros(2).tolist()") == [0, 0]


def test_pickle(shell):
    """As functions of load_inline do, by their source."""
    shell.run(DOUBLE)
    double = shell.user_ns["double"]
    assert pickle.loads(pickle.dumps(double)) is double


def test_import_without_ipython(python):
    """godlpack imports nothing of IPython, also if it loads the magic."""
    script = """
import sys
import godlpack
assert "godlpack._magic" not in sys.modules
class Shell:
    def register_magic_function(self, function, magic_kind, magic_name):
        print(magic_kind, magic_name)
godlpack.load_ipython_extension(Shell())
print("IPython" in sys.modules)
"""
    assert python(script) == "cell go\nFalse\n"


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="needs the sources")
def test_guide(shell):
    """The cells of the guide."""
    guide = (ROOT / "docs" / "guide.md").read_text()
    cells = re.findall(r"```text\n(%(?:%go|load_ext).*?)```", guide, re.DOTALL)
    assert len(cells) == 2
    for cell in cells:
        assert shell.fails(cell) is None, cell
    assert shell.run("total([1, 2, 3])") == 6
