"""The tour in the README runs."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_tour(capsys):
    pytest.importorskip("numpy")
    pytest.importorskip("torch")
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert "use .detach()" in capsys.readouterr().out
