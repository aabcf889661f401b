"""The stubs agree with the modules in names and signatures, by mypy's stubtest."""

import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 a buffer shows no __buffer__ at run time")
def test_stubs_match_the_module(tmp_path):
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    exceptions = [
        r"godlpack\.testing\.records\..*\._fields_",  # ctypes' own, which mypy reads differently
        r"godlpack\._core\.(Function|Method)\.__text_signature__",  # on a type, Python returns the type's own
        r"godlpack\._\w+\.\w+@\d+",  # classes within functions, which do not exist before the functions run
        r"godlpack\._cache\.instead_of_cache",  # functools.cache, whose arguments mypy does not know
        r"godlpack\._library\.(load_again|types_of)",
    ]
    allowed.write_text("\n".join(exceptions))
    command = [sys.executable, "-m", "mypy.stubtest", "godlpack", "--ignore-missing-stub", "--allowlist", str(allowed)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
