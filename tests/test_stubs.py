"""The stubs say what the module has: mypy's stubtest compares them, names and signatures."""

import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 a buffer shows no __buffer__ at run time")
def test_stubs_match_the_module(tmp_path):
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    exceptions = [
        r"godlpack\.testing\.records\..*\._fields_",  # ctypes' own, which mypy sees otherwise
        r"godlpack\._core\.Function\.__text_signature__",  # of a type, Python shows the type's own
        r"godlpack\._\w+\.\w+@\d+",  # classes within functions, which are not there before these run
        r"godlpack\._cache\.instead_of_cache",  # functools.cache, of which mypy knows no arguments
        r"godlpack\._library\.load_again",
    ]
    allowed.write_text("\n".join(exceptions))
    command = [sys.executable, "-m", "mypy.stubtest", "godlpack", "--ignore-missing-stub", "--allowlist", str(allowed)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
