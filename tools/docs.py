"""Builds the documentation as a site into docs/_build: `tox -e docs`.

The pages of the Go packages are made from their doc comments. Every warning of Sphinx is an error, and so is a broken
link within the site. `tox -e docs -- --online` also checks external links.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILT = DOCS / "_build"
PACKAGES = ["kernel", "tensor", "dlpack", "packed", "cuda", "tvmffi", "library"]  # those that an author may import


def write_go_pages(folder: Path) -> None:
    """Writes a page for each Go package that authors import, and a list of them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PACKAGES:
        command = ["go", "tool", "-modfile=tools/docs.mod", "gomarkdoc", f"./{name}"]
        text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        # MyST cannot resolve anchors in HTML, so links to them are written as HTML, too.
        text = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(<(#[^>]*)>\)", r'<a href="\2">\1</a>', text)
        folder.joinpath(f"{name}.md").write_text(text)
    toctree = "\n".join(["```{toctree}", *PACKAGES, "```"])
    folder.joinpath("index.md").write_text(
        f"# Go packages\n\nThe packages that an author of Go functions imports.\n\n{toctree}\n"
    )


class Page(HTMLParser):
    """The links of a page, and the anchors in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name == "href" and tag == "a" and value:
                self.links.append(value)


def broken_links(folder: Path) -> Iterator[str]:
    """The links within the site whose target does not exist."""
    pages = {file: Page(file) for file in sorted(folder.rglob("*.html"))}
    for file, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            target = (file.parent / unquote(url.path)).resolve() if url.path else file
            if (
                url.scheme
                or url.netloc
                or (target in pages and (not url.fragment or unquote(url.fragment) in pages[target].places))
            ):
                continue
            if target not in pages and target.is_file():
                continue
            yield f"{file.relative_to(folder)}: {link}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--online", action="store_true", help="ask for the links to other sites, too")
    options = parser.parse_args()
    write_go_pages(DOCS / "reference" / "go")
    sphinx = [sys.executable, "-P", "-m", "sphinx", "-W", "--keep-going", "-q"]
    subprocess.run([*sphinx, "-b", "html", DOCS, BUILT], check=True)
    if options.online:
        subprocess.run([*sphinx, "-b", "linkcheck", DOCS, BUILT / "links"], check=True)
    broken = list(broken_links(BUILT))
    for link in broken:
        print(f"leads nowhere: {link}")
    print(BUILT / "index.html")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
