"""Real text that is on the machine: sources and texts of Python, of its packages and of Go, in many languages."""

import random
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np

STDLIB = Path(sysconfig.get_path("stdlib"))
LANGUAGES = [
    "Ça va? Oui -- l'été, naïve façade; ŒUVRE, I'd say they're we'll 'tis DON'T",
    "Straße GROẞE Füße ÄÖÜ ǅungla ﬁne x² Ⅷ ½ ①②",
    "ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ ΑΣ\u0301 ς Война и мир. ЁЛКА İSTANBUL",
    "東京都 1234 ひらがな カタカナ 한국어 中文，标点。　全角",  # noqa: RUF001
    "हिन्दी भाषा ไทย العربية ٣٤٥ עברית தமிழ் አማርኛ",
    "😀 emoji👩‍👧🇩🇪 \U0001d400\U00010400x \u200b\u200d\ufeff\u00ad",
    "tab\tand\nlines\r\n\n \x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u3000end  \n  x   ",
    "NUL\x00in\x00side \x7f\x80\xff",
    "",
    " ",
    "\n",
    "'",
    " '",
    "''s 's's",
]


def folders() -> list[tuple[Path, str]]:
    """Where there is text. Most of the languages are in the tests of Python and of Go, and in the messages of gettext."""
    found = [(STDLIB, "*.py"), (STDLIB / "test", "test_uni*.py"), (STDLIB / "test" / "cjkencodings", "*-utf8.txt")]
    found += [
        (STDLIB / "encodings", "*.py"),
        (Path(np.__file__).parent, "*/*.py"),
        (Path("/usr/share/common-licenses"), "*"),
    ]
    go = shutil.which("go")
    if go:
        root = Path(subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip())
        found += [
            (root / "src" / p, "*.go") for p in ("unicode", "strings", "strconv", "net", "vendor/golang.org/x/net/idna")
        ]
        found += [(root / "test", "*.go"), (root / "src" / "testdata", "*"), (root / "src" / "html", "*.go")]
    return found


def texts(size: int) -> list[str]:
    """Some of the files, of so many characters in all, and texts in many languages."""
    files = [file for folder, pattern in folders() for file in sorted(folder.glob(pattern)) if file.is_file()]
    random.Random(0).shuffle(files)
    found, total = list(LANGUAGES), 0
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if total + len(text) <= size:
            found.append(text)
            total += len(text)
    assert total > 0.5 * size
    return found
