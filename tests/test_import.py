"""Importing godlpack: what it imports, reloads, subinterpreters, and Python's end."""

import sys

import pytest


def test_no_framework_comes_along(python):
    """Neither the import nor an exchange with one framework imports another."""
    python(
        """
import sys, godlpack as gd
gd.asarray(bytearray(3)).copy().tolist()
repr(gd.zeros(3)), gd.DType("float32") == "float32"
try:
    gd.from_dlpack(5)
except TypeError:
    pass
assert not {"numpy", "torch", "jax", "cupy", "ml_dtypes", "tvm_ffi"} & set(sys.modules), sys.modules
"""
    )


def test_reload(python):
    """Tensors of the first import may still exist: the types stay the same."""
    python(
        """
import importlib, pickle, sys
import godlpack as gd
t, types = gd.zeros(3), (gd.Tensor, gd.DType, gd.Device)
table = gd.Tensor.__c_dlpack_exchange_api__
importlib.reload(gd)
assert (gd.Tensor, gd.DType, gd.Device) == types
for name in [n for n in sys.modules if n.startswith("godlpack")]:
    del sys.modules[name]
import godlpack as again
assert (again.Tensor, again.DType, again.Device) == types
assert again.Tensor.__c_dlpack_exchange_api__ == table
assert again.from_dlpack(t).data_ptr == t.data_ptr
assert t.device.type == again.DeviceType.CPU
assert again.__version__ == gd.__version__
"""
    )


def test_subinterpreter(python):
    """The import raises an error there; the main interpreter still works."""
    script = """
import godlpack as gd, sys
t = gd.zeros(3)
code = "import sys; sys.path[:] = {path!r}\\ntry:\\n import godlpack\\nexcept ImportError as e: open({out!r}, 'w').write(str(e))"
"""
    if sys.version_info >= (3, 13):
        interpreters = "_interpreters"
    else:
        interpreters = "_xxsubinterpreters"
    pytest.importorskip(interpreters)
    script += f"""
import {interpreters} as interpreters, os, tempfile
out = os.path.join(tempfile.mkdtemp(), "said")
ident = interpreters.create()
interpreters.run_string(ident, code.format(path=sys.path, out=out))
interpreters.destroy(ident)
print(open(out).read())
assert gd.from_dlpack(t).tolist() == [0.0] * 3
"""
    assert "interpreter" in python(script)


def test_exit_with_everything_alive(python, np, torch):
    """R12: deleters run during the interpreter's finalization, and after it."""
    python(
        """
import godlpack as gd, numpy as np, torch, sys
t = gd.zeros((3, 4))
a, x = np.from_dlpack(t), torch.from_dlpack(t)
fn, ft = gd.from_dlpack(np.zeros(3)), gd.from_dlpack(torch.zeros(3))
buffer = gd.asarray(bytearray(10))
legacy, versioned = t.__dlpack__(), t.__dlpack__(max_version=(1, 0))
view = memoryview(t)
sys.modules["kept"] = [t, a, x, fn, ft, buffer, legacy, versioned, view]
cycle = [t]; cycle.append(cycle)
"""
    )


def test_exit_while_a_thread_exchanges(python):
    python(
        """
import godlpack as gd, threading
def work():
    while True:
        gd.from_dlpack(gd.zeros(10).__dlpack__(max_version=(1, 0))).tolist()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
for _ in range(200):
    gd.zeros(10).tolist()
"""
    )


def test_exchange_imports_nothing(python):
    """ml_dtypes is imported only for its dtypes: imports take time, and break in children that are forked meanwhile."""
    pytest.importorskip("ml_dtypes")
    said = python("""
import sys
import numpy as np
import godlpack as gd

before = set(sys.modules)
t = gd.from_dlpack(np.zeros((2, 3), "float16"))
t.to(np.ndarray)
gd.asarray(np.arange(3)).astype("int8").to(np.ndarray)
print(sorted(set(sys.modules) - before))
gd.zeros(3, "bfloat16").to(np.ndarray)
print("ml_dtypes" in sys.modules)
""")
    assert said.split("\n")[:2] == ["[]", "True"], said
