"""Functions as operators of torch: torch's checks of operators, and that torch.compile keeps them in one graph."""

import importlib
import shutil

import pytest

import godlpack as gd
from godlpack import _torch
from helpers import build

pytestmark = build.needs_go

torch = pytest.importorskip("torch")

FAKES = {
    "softmax": torch.empty_like,
    "tail": lambda x: x.new_empty(x.shape[0] - 1),
    "split": lambda x: (x.new_empty((x.shape[0] + 1) // 2), x.new_empty(x.shape[0] // 2)),
    "doubled": lambda x: x,
    "zeros": lambda n, device="cpu": torch.empty(n, device=device),
}


@pytest.fixture(scope="module")
def s(sample):
    return gd.load_module(sample, package="sample")


@pytest.fixture(scope="module")
def ops(s):
    """Operators of some functions, as attributes, so that graphs treat them as module attributes."""

    class Ops:
        pass

    for name in ("nop", "saxpy", "echo", "outer", "scale", *FAKES):
        setattr(Ops, name, gd.torch_op(getattr(s, name), fake=FAKES.get(name)))
    return Ops


@pytest.fixture(autouse=True)
def forgotten_graphs():
    yield
    torch.compiler.reset()


def whole(f, backend="aot_eager", **options):
    """f compiled; raises an error if the graph breaks."""
    return torch.compile(f, fullgraph=True, backend=backend, **options)


def arguments(name):
    x, y = torch.arange(5.0), torch.ones(5)
    each = {"nop": (x, x, y), "saxpy": (2.0, x, y), "outer": (x, y[:3]), "scale": ([x, y],), "zeros": (3,)}
    return each.get(name, ([x, y[:2]],) if name == "doubled" else (x,))


NAMES = ["nop", "saxpy", "echo", "outer", "scale", *FAKES]


@pytest.mark.parametrize("name", NAMES)
def test_operators_are_as_torch_wants_them(ops, name):
    results = torch.library.opcheck(getattr(ops, name), arguments(name))
    assert set(results.values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", NAMES)
def test_compiled_is_what_is_called(s, ops, name):
    function, op = getattr(s, name), getattr(ops, name)
    like = {"like": torch.Tensor} if "like=" in str(function) else {}
    args, compiled, called = arguments(name), arguments(name), arguments(name)
    want = function(*args, **like)
    for result, after in ((op(*called), called), (whole(lambda *x: op(*x))(*compiled), compiled)):
        torch.testing.assert_close(result, want, rtol=0, atol=0)
        torch.testing.assert_close(after, args, rtol=0, atol=0)


def test_one_graph_with_what_is_around(ops):
    def step(x, y):
        z = ops.outer(x * 2, y + 1)
        row = torch.zeros_like(y)
        ops.saxpy(3.0, z[1], row)
        ops.scale([row], by=0.5)
        even, _ = ops.split(ops.softmax(row - 1))
        return z.sum() + ops.tail(even), row

    x, y = torch.arange(4.0), torch.arange(5.0)
    torch.testing.assert_close(whole(step)(x, y), step(x, y))


def test_inductor(ops):
    if not (shutil.which("g++") or shutil.which("clang++")):
        pytest.skip("needs a C++ compiler")

    def step(x, y):  # operators only, so that little is compiled
        before = ops.outer(x, y)
        ops.scale([x, y])
        return before, ops.outer(x, y), ops.tail(x)

    x, y = torch.arange(4.0), torch.arange(5.0)
    again, other = x.clone(), y.clone()
    want = step(x, y)
    with importlib.import_module("torch._inductor.config").patch(compile_threads=1):  # otherwise it starts processes
        torch.testing.assert_close(whole(step, "inductor")(again, other), want)
    torch.testing.assert_close((again, other), (x, y))


def test_what_is_written_is_seen(ops):
    def step(x, y):
        before = y.sum()
        ops.saxpy(2.0, x, y)
        ops.scale([x, y[:1]])
        return before, y.sum(), x.sum()

    x, y = torch.ones(3), torch.ones(3)
    assert [float(value) for value in whole(step)(x, y)] == [3, 12, 6]
    assert (x.tolist(), y.tolist()) == ([2, 2, 2], [6, 3, 3])
    with torch.no_grad():
        version = y._version
        ops.scale([y])
        assert y._version > version


def test_one_graph_for_all_sizes(ops):
    counter = importlib.import_module("torch._dynamo.testing").CompileCounterWithBackend("aot_eager")
    step = whole(lambda x, y: ops.tail(ops.outer(x, y).sum(0)), counter, dynamic=True)
    for n, m in ((3, 4), (5, 3), (7, 9)):
        x, y = torch.arange(float(n)), torch.arange(float(m))
        torch.testing.assert_close(step(x, y), (torch.outer(x, y).sum(0))[1:])
    assert counter.frame_count == 1


def test_results_that_are_arguments_are_copies(ops):
    x = torch.arange(6.0)[::2]
    for echo in (ops.echo, whole(lambda x: ops.echo(x))):
        y = echo(x)
        assert y.tolist() == x.tolist() == [0, 2, 4]
        assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        assert y.is_contiguous()


def test_fakes_need_not_lie_as_results_do(s):
    op = gd.torch_op(s.echo, name="sample::echo_too", fake=lambda x: x)
    torch.library.opcheck(op, (torch.arange(6.0)[::2],))


def test_gradients(s):
    op = gd.torch_op(s.outer, name="sample::outer_with_gradient")
    x, y = torch.arange(3.0, requires_grad=True), torch.ones(2)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        op(x, y).sum().backward()

    def remember(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient @ y, x @ gradient

    op.register_autograd(backward, setup_context=remember)
    for f in (op, whole(lambda x, y: op(x, y))):
        x.grad = None
        f(x, y).sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
    torch.library.opcheck(op, (x, y))


def added(ops, x, y):
    ops.saxpy(1.0, x, y)
    return y  # otherwise the graph would drop all of it


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda ops, x: added(ops, x, torch.ones(9)), ValueError, r"saxpy\(\): argument 'y': .* got float32\[9\]"),
        (lambda ops, x: added(ops, x, x.long()), TypeError, r"saxpy\(\): argument 'y': .* got int64"),
        (lambda ops, x: ops.outer(x, x.double()), TypeError, r"outer\(\): argument 'y': .* but T is float32"),
        (lambda ops, x: ops.outer(x, x[:, None]), TypeError, r"outer\(\): argument 'y': .* got float32\[2, 1\]"),
        (lambda ops, x: ops.outer(x, x[0]), TypeError, r"outer\(\): argument 'y': want .*\[m\].*, got "),
        (lambda ops, x: ops.outer(x), Exception, r"missing value for argument 'y'"),
        (lambda ops, x: ops.saxpy("a", x, x), Exception, r"Expected a value of type 'float' for argument 'a'"),
    ],
)
def test_refused_arguments(ops, call, error, text):
    x = torch.ones(2)
    with pytest.raises(error, match=text):
        call(ops, x)
    with pytest.raises(Exception, match=text):  # torch changes the errors of fakes
        whole(lambda x: call(ops, x))(x)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("tail", ValueError, r"tail\(\): result 0: the declaration does not determine its extent m: pass fake="),
        ("split", ValueError, r"split\(\): result 'even': the declaration does not determine its extent \*"),
        ("softmax", ValueError, r"softmax\(\): result 0: the declaration does not determine its extent \.\.\."),
        ("doubled", ValueError, r"doubled\(\): result 0: the declaration does not determine the number of tensors"),
        ("apply", TypeError, r"apply\(\): argument 'f': torch operators do not support callable"),
        ("reversed", TypeError, r"reversed\(\): argument 'data': torch operators do not support bytes"),
        ("divmod", TypeError, r"divmod\(\): result 'quotient': want a tensor, or a list of them, got int"),
        ("totals", TypeError, r"totals\(\): result 0: want a tensor, or a list of them, got list of float"),
        ("bits", TypeError, r"bits\(\): result 0: want a tensor, or a list of them, got int or None"),
    ],
)
def test_refused_functions(s, name, error, text):
    with pytest.raises(error, match=text):
        gd.torch_op(getattr(s, name))
    if error is TypeError:
        with pytest.raises(error, match=text):
            gd.torch_op(getattr(s, name), fake=lambda *args: None)


def test_refused_makings(s):
    with pytest.raises(TypeError, match=r"torch_op\(\): want a godlpack\.Function, got builtin_function_or_method"):
        gd.torch_op(len)
    for name in ("nop", "a::b::c", "::nop", "sample::", "a b::c"):
        with pytest.raises(ValueError, match="want package::function"):
            gd.torch_op(s.nop, name=name)


def test_names(sample):
    module = gd.load_module(sample, package="one.two")
    assert gd.torch_op(module.nop)._qualname == "one_two::nop"
    assert gd.torch_op(module.nop, name="three::four")._qualname == "three::four"


def test_torch_is_not_imported_unasked(python, sample):
    script = f"import sys, godlpack as gd; gd.load_module({str(sample)!r}); print('torch' in sys.modules)"
    assert python(script) == "False\n"


# --- declarations


def tensor(name="", **said):
    return {"name": name, "kind": "tensor", "shape": None, **said}


def value(name, kind, default=None, **said):
    return {"name": name, "kind": kind, **({"default": default} if default else {}), **said}


def test_schema():
    params = [
        tensor("x"),
        tensor("y", mutable=True),
        {"name": "z", "kind": "list", "elem": tensor(mutable=True), "optional": True},
        value("a", "int", optional=True),
        value("b", "int", "-1"),
        value("c", "float", "1e-12"),
        value("d", "bool", "True"),
        value("e", "str", r'"\u00e9 \" \n"'),
        value("f", "dtype", '"bfloat16"'),
        value("g", "device", '"cuda:1"'),
        value("h", "list", "(1, 2)", elem=value("", "int")),
        value("i", "list", "(True,)", elem=value("", "bool")),
        value("j", "list", "()", elem=value("", "float")),
        value("k", "list", "None", elem=value("", "str"), optional=True),
        tensor("l", optional=True, default="None", mutable=True),
    ]
    parsed = torch._C.parse_schema("f" + _torch.schema("f", params, [tensor(), {"kind": "list", "elem": tensor()}]))
    defaults = [None] * 4 + [
        -1,
        1e-12,
        True,
        'é " \n',
        torch.bfloat16,
        torch.device("cuda:1"),
        [1, 2],
        [True],
        [],
        None,
        None,
    ]
    for argument, p, default in zip(parsed.arguments, params, defaults, strict=True):
        assert argument.name == p["name"]
        assert argument.has_default_value() == ("default" in p)
        got = argument.default_value
        assert got == default or isinstance(default, torch.dtype)
    written = [a.name for a in parsed.arguments if a.alias_info and a.alias_info.is_write]
    assert written == ["y", "z", "l"]
    assert [str(r.type) for r in parsed.returns] == ["Tensor", "List[Tensor]"]


def derived(params, results, *args):
    return _torch.derive("f", params, results)(*args)


def test_derived_results():
    x, y = torch.empty(2, 3, 4, 5), torch.empty(7, dtype=torch.int64)
    params = [
        tensor("x", shape=["n", "...", "k"], var="T", dtypes=["float32", "float64"]),
        tensor("y", shape=["m"], var="S", dtypes=["float16", "float32"], convert=True),
    ]
    results = [
        tensor(shape=["k", "n", "m", "1"], var="T"),
        tensor(shape=[], dtypes=["bool"]),
        tensor(shape=["m"], var="S", dtypes=["float16", "float32"]),
    ]
    got = [(tuple(r.shape), r.dtype) for r in derived(params, results, x, y)]
    assert got == [((5, 2, 7, 1), torch.float32), ((), torch.bool), ((7,), torch.float16)]
    assert derived(params, [], x, y) is None
    with pytest.raises(TypeError, match=r"f\(\): argument 'x': want \[n, \.\.\., k\], got 1 axes"):
        derived(params, results, y, y)


def test_derived_from_lists_and_optional_arguments():
    lists = {"name": "x", "kind": "list", "elem": tensor(shape=["n"], var="T")}
    maybe = tensor("z", shape=["n"], var="T", optional=True, default="None")
    params = [lists, tensor("y", shape=["n"], var="T"), maybe]
    result = tensor(shape=["n"], var="T")
    y = torch.empty(3, dtype=torch.float64)
    for args in (([], y), ([y], y), ([], y, None), ([y], y, y)):
        assert derived(params, [result], *args).dtype == torch.float64
    for params in ([lists], [maybe]):
        with pytest.raises(ValueError, match=r"f\(\): result 0: .* extent n"):
            _torch.derive("f", params, [result])


def test_derived_device():
    result = tensor(shape=["n"], dtypes=["float32"], device="any")
    params = [tensor("h", shape=["*"]), tensor("x", shape=["n"], device="any")]
    args = torch.empty(2), torch.empty(3, device="meta")
    assert derived(params, [result], *args).device.type == "meta"
    assert derived(params, [{**result, "device": ""}], *args).device.type == "cpu"
    with pytest.raises(ValueError, match="does not determine its device"):
        _torch.derive("f", [tensor("x", shape=["n"])], [result])


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (tensor(dtypes=["int8"]), "its shape"),
        (tensor(shape=["n"]), "its dtype"),
        (tensor(shape=["n"], var="S"), "its dtype"),
        (tensor(shape=["n"], dtypes=["int8", "int16"]), "its dtype"),
        (tensor(shape=["n", "k"], dtypes=["int8"]), "its extent k"),
    ],
)
def test_declarations_that_say_too_little(result, text):
    with pytest.raises(ValueError, match=f"does not determine {text}"):
        _torch.derive("f", [tensor("x", shape=["n"], var="T")], [result])


def refused(call):
    with pytest.raises(
        BufferError, match=r"argument '\w+': the tensor requires grad.*use \.detach\(\), or torch\.no_grad\(\)"
    ):
        call()


def test_what_requires_grad_is_not_written(ops):
    leaf = torch.ones(3, requires_grad=True)
    x, written = torch.ones(3), torch.ones(3)
    for y in (leaf, leaf * 1, leaf[:1]):
        refused(lambda: ops.scale([x, y]))  # noqa: B023
    for y in (leaf, leaf * 1):
        refused(lambda: ops.saxpy(2.0, x, y))  # noqa: B023
        refused(lambda: ops.saxpy(2.0, x, y=y))  # noqa: B023
    assert leaf.tolist() == [1, 1, 1]
    ops.saxpy(2.0, leaf, written)  # it is only read
    ops.saxpy(2.0, x, leaf.detach())
    with torch.no_grad():
        ops.saxpy(2.0, x, leaf)
    assert (written.tolist(), leaf.tolist()) == ([3, 3, 3], [5, 5, 5])


def test_compiled_code_does_not_write_to_what_requires_grad(ops):
    def step(x, y):
        y = y * 1
        ops.saxpy(2.0, x, y)
        return y

    dynamo = importlib.import_module("torch._dynamo")
    x, y = torch.ones(3), torch.ones(3, requires_grad=True)
    refused(lambda: torch.compile(step, backend="aot_eager")(x, y))
    dynamo.reset()
    with pytest.raises(Exception, match="requires grad"):
        whole(step)(x, y)
    dynamo.reset()
    with torch.no_grad():
        assert whole(step)(x, y).tolist() == [3, 3, 3]
    assert whole(step)(x, y.detach()).tolist() == [3, 3, 3]


def test_default_beyond_what_torch_holds(own_cache):
    source = (
        'package p\n\nimport "godlpack/tensor"\n\n//godlpack:export\n//godlpack:arg x shape=[n]\n//godlpack:arg y default={}\n'
        "//godlpack:result 0 shape=[n]\nfunc F(x tensor.Of[float32], y {}) tensor.Of[float32] {{ return x }}\n"
    )
    for value, kind in ("18446744073709551615", "uint64"), ("[1,9223372036854775808]", "[]uint64"):
        f = gd.load_inline(source.format(value, kind)).f
        with pytest.raises(ValueError, match=r"f\(\): argument 'y': want a default of at most 2\*\*63-1"):
            gd.torch_op(f, name=f"beyond::{kind.strip('[]')}", fake=lambda x, y: torch.empty_like(x))
