"""The cell magic of IPython and Jupyter, `%%go`. It needs nothing of IPython but the shell that loads it."""

from __future__ import annotations

import argparse
import re
import shlex
from typing import Any, NoReturn

from ._inline import COMMENTS, load_inline
from ._tool import BuildError

PACKAGE = re.compile(r"^\s*package\s+([A-Za-z_]\w*)", re.MULTILINE)
USUAL = "cell"  # name of the module of a cell without a package clause


def register(shell: Any) -> None:
    """Makes %%go a magic of an IPython shell."""

    def go(line: str, cell: str) -> None:
        """Build a cell of Go, and define what it exports.

        ``%%go [--name NAME] [--verbose]``

        Functions, types and errors that are marked //godlpack:export become
        names of the notebook, as if Python had defined them there. The
        package clause may be left out. Errors count the cell's lines, of
        which %%go is the first.

        The cell is a Go package of its own: it does not see those of other
        cells. A cell that is run again after a change replaces the names.
        Without a change, it builds nothing, and the functions are the same
        as before, with the state of their package.

        --name NAME  name of the functions' module, which becomes a name of
                     the notebook, too; default: the package clause's, or cell
        --verbose    print how long the build took

        Examples
        --------
        ::

            %%go
            //godlpack:export
            func Double(x int) int { return 2 * x }
        """
        options = parsed(line)
        source = f"\n{cell}"  # %%go was the first line
        clause = PACKAGE.search(COMMENTS.sub("", source))
        try:
            module = load_inline(source, name=options.name or (clause[1] if clause else USUAL), verbose=options.verbose)
        except BuildError as error:
            shown(error, f"BuildError: {with_lines(str(error), source)}")
        names = {name: getattr(module, name) for name in module.__all__}
        shell.push({options.name: module, **names} if options.name else names)

    shell.register_magic_function(go, magic_kind="cell", magic_name="go")


class Options(argparse.ArgumentParser):
    """The options of %%go. An error does not end Python."""

    def error(self, message: str) -> NoReturn:
        error = ValueError(f"%%go: {message}: want %%go [--name NAME] [--verbose]")
        shown(error, f"ValueError: {error}")


def parsed(line: str) -> argparse.Namespace:
    options = Options(add_help=False, allow_abbrev=False)
    options.add_argument("--name", type=identifier)
    options.add_argument("--verbose", action="store_true")
    try:
        return options.parse_args(shlex.split(line))
    except ValueError as error:  # a quotation that does not end
        if hasattr(error, "_render_traceback_"):
            raise
        options.error(str(error))


def identifier(name: str) -> str:
    if not name.isidentifier():
        raise argparse.ArgumentTypeError(f"want an identifier, got {name!r}")
    return name


def shown(error: Exception, text: str) -> NoReturn:
    """Raises an error of which IPython shows the text alone: its traceback would be ours."""
    error._render_traceback_ = lambda: text.splitlines()  # type: ignore[attr-defined]
    raise error from None


def with_lines(message: str, source: str) -> str:
    """The message, with the line of the source below each place that it names, and a mark below the column."""
    lines, text = source.splitlines(), []
    for part in message.splitlines():
        text.append(part)
        place = re.match(r"\w+\.go:(\d+):(\d+): ", part)
        if place and 0 < int(place[1]) <= len(lines):
            line = lines[int(place[1]) - 1]
            before = line.encode()[: int(place[2]) - 1].decode(errors="ignore")
            text += [f"    {line}", "    " + re.sub(r"\S", " ", before) + "^"]
    return "\n".join(text)
