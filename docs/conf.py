"""The documentation as a site: `tox -e docs`."""

import re
import sys
from pathlib import Path

import godlpack

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from charts import with_charts

project = "godlpack"
author = "the godlpack authors"
copyright = "2026, the godlpack authors"
release = godlpack.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.intersphinx", "numpydoc", "sphinx_copybutton"]
html_theme = "furo"
html_title = f"godlpack {release}"
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = True

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages of Go packages skip levels
copybutton_prompt_text = "$ "

autodoc_member_order = "groupwise"
autodoc_typehints = "none"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

# Links in the repository's own pages, where they lead to pages of the site that have another name.
MOVED = [
    (r"\]\((?:\.\./)?examples/(\w+)(?:/README\.md)?\)", r"](/examples/\1.md)"),
    (r"\]\((?:docs/)?CONTRIBUTING\.md\)", "](/contributing.md)"),
    (r"\]\((?:docs/)?CHANGELOG\.md\)", "](/changelog.md)"),
    (r"\]\((?:\.\./)+README\.md\)", "](/index.md)"),
    (r"\]\((?:\.\./)+docs/(\w+\.md(?:#\w+)?)\)", r"](/\1)"),
]


def move_links(text: list[str]) -> None:
    for pattern, link in MOVED:
        text[0] = re.sub(pattern, link, text[0])


def draw_charts(name: str, text: list[str]) -> None:
    if name == "benchmarks":
        text[0] = with_charts(text[0])


def turn_sections_into_rubrics(app, what, name, module, options, lines):
    """Modules' docstrings, which numpydoc leaves as they are: a page may have but one section of a name."""
    if what == "module":
        text = re.sub(r"^(\w[\w ]*)\n-+$", r".. rubric:: \1\n", "\n".join(lines), flags=re.MULTILINE)
        lines[:] = text.splitlines()


def setup(app):
    app.connect("autodoc-process-docstring", turn_sections_into_rubrics, priority=100)
    app.connect("source-read", lambda app, name, text: move_links(text))
    app.connect("source-read", lambda app, name, text: draw_charts(name, text))
    app.connect("include-read", lambda app, path, name, text: move_links(text))
