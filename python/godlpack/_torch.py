"""Functions of libraries as torch operators, which torch.compile keeps in its graphs."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from ._core import Function
from ._library import declarations

Declared = dict[str, Any]  # a parameter or a result, as package kernel writes it

# The schema type of each kind of parameter. Operators do not return numbers: graphs would contain the fake's.
SCHEMA_TYPES = {
    "bool": "bool",
    "int": "SymInt",
    "float": "float",
    "str": "str",
    "dtype": "ScalarType",
    "device": "Device",
    "tensor": "Tensor",
}


def torch_op(function: Function, *, name: str | None = None, fake: Callable[..., Any] | None = None) -> Any:
    """Make an operator of torch, which torch.compile keeps in its graph.

    Parameters
    ----------
    function : Function
        The function. Its declaration tells what the operator takes, writes
        and returns.
    name : str, optional
        Name of the operator, such as "fastops::softmax". Default: the
        function's module and name.
    fake : callable, optional
        A function of the same arguments that returns an empty tensor like
        each result. It is called with tensors that have no memory. Only
        shape, dtype and device of what it returns count. Default: a fake
        that follows from the declaration.

    Returns
    -------
    torch.library.CustomOpDef
        The operator. It takes the function's arguments without `like` and
        `out`. It returns tensors of torch, and copies of those results that
        are arguments.

    Raises
    ------
    TypeError
        `function` is not a Function, takes bytes or callables, or returns
        anything but tensors and lists of tensors.
    ImportError
        torch is not installed.
    ValueError
        `name` does not have the form package::function, or a result needs
        `fake`; the message names the result.

    Notes
    -----
    A fake follows from the declaration if each result is a tensor, its
    dtype is fixed or that of an argument with the same type variable, each
    of its extents is a number or the name of an extent of an argument, and
    it is on the CPU or on the declared device of an argument.

    ``backward()`` through the operator raises RuntimeError until its
    ``register_autograd`` has a formula. Autograd does not record what the
    operator writes. A call that writes to a tensor that requires grad
    raises BufferError while gradients are recorded, as the function itself
    does. ``torch.ops.package.function`` does not, since it does not know
    whether its tensors require grad.

    Examples
    --------
    >>> import torch
    >>> import godlpack as gd
    >>> ops = gd.load_inline('''
    ... import (
    ...     "godlpack/kernel"
    ...     "godlpack/tensor"
    ... )
    ...
    ... // Twice returns 2*x.
    ... //
    ... //godlpack:export
    ... //godlpack:arg x shape=[n]
    ... //godlpack:result shape=[n]
    ... func Twice(ctx *kernel.Ctx, x tensor.Of[float32]) tensor.Of[float32] {
    ...     y := kernel.Empty[float32](ctx, x.Shape()...)
    ...     for i, v := range x.All() {
    ...         y.Set(2*v, i)
    ...     }
    ...     return y.Of
    ... }
    ... ''', name="docs_twice")
    >>> twice = gd.torch_op(ops.twice)
    >>> twice(torch.tensor([0.0, -1.5]))
    tensor([ 0., -3.])

    ``torch.compile(fullgraph=True)`` accepts a function that calls it.
    """
    if not isinstance(function, Function):
        raise TypeError(f"torch_op(): want a godlpack.Function, got {type(function).__name__}")
    name = name or f"{function.__module__.replace('.', '_')}::{function.__name__}"
    if not all(part.isidentifier() for part in name.split("::", 1)) or "::" not in name:
        raise ValueError(f"torch_op(): name: want package::function, got {name!r}")
    torch = importlib.import_module("torch")
    declaration = declarations[function]
    params, results = declaration["params"] or [], declaration["results"] or []
    text = schema(function.__name__, params, results)
    imagined = compact(fake) if fake else derive(function.__name__, params, results)
    written = [p["name"] for p in params if (p.get("elem") or p).get("mutable")]
    op = torch.library.custom_op(name, separate(function, params, results), mutates_args=written, schema=text)
    op.register_fake(imagined)
    refuse_grad(op, function.__name__, [(i, p["name"]) for i, p in enumerate(params) if p["name"] in written])
    return op


def schema(function: str, params: list[Declared], results: list[Declared]) -> str:
    """An operator's parameters and results in torch's syntax: "(Tensor x, Tensor(a1!) y, SymInt n=1) -> Tensor"."""
    taken = []
    for i, p in enumerate(params):
        if (text := schema_type(p, f"a{i}!")) is None:
            raise TypeError(
                f"torch_op(): {function}(): argument '{p['name']}': torch operators do not support {kind(p)}"
            )
        taken.append(f"{text} {p['name']}{schema_default(function, p)}")
    given = []
    for i, r in enumerate(results):
        if (text := schema_type(r)) not in ("Tensor", "Tensor[]"):
            raise TypeError(
                f"torch_op(): {function}(): {called(r, i)}: want a tensor, or a list of them, got {kind(r)}"
            )
        given.append(text)
    return f"({', '.join(taken)}) -> {given[0] if len(given) == 1 else '(' + ', '.join(given) + ')'}"


def schema_type(p: Declared, alias: str = "") -> str | None:
    """The type of a parameter or a result; None if torch has none. alias: marks the tensor as written to."""
    if p["kind"] == "list":
        element = schema_type(p["elem"], alias)
        text = element and f"{element}[]"
    else:
        text = SCHEMA_TYPES.get(p["kind"])
        text = f"{text}({alias})" if p.get("mutable") else text
    return f"{text}?" if text and p.get("optional") else text


def schema_default(function: str, p: Declared) -> str:
    if not p.get("default") or p.get("passing") == "variadic":
        return ""
    if p["default"] == "...":
        raise TypeError(
            f"torch_op(): {function}(): argument '{p['name']}': want a default that is declared, which torch needs, "
            "got one by a function: write //godlpack:arg default=VALUE at the option"
        )
    value = ast.literal_eval(p["default"])
    if any(isinstance(x, int) and x >= 2**63 for x in (value if isinstance(value, tuple) else (value,))):
        raise ValueError(
            f"torch_op(): {function}(): argument '{p['name']}': want a default of at most 2**63-1, the largest int of torch operators, got {value}"
        )
    if isinstance(value, str) and p["kind"] != "dtype":  # torch writes dtypes without quotes
        value = json.dumps(value, ensure_ascii=False)
    return f"={list(value) if isinstance(value, tuple) else value}"


def kind(p: Declared) -> str:
    text = f"list of {p['elem']['kind']}" if p["kind"] == "list" else p["kind"]
    return f"{text} or None" if p.get("optional") else text


def called(result: Declared, number: int) -> str:
    """A result's name in messages: most results have none."""
    return f"result '{result['name']}'" if result.get("name") else f"result {number}"


def separate(function: Function, params: list[Declared], results: list[Declared]) -> Callable[..., Any]:
    """The function as torch calls it, all arguments by position: it returns torch tensors, none of which is an argument."""
    torch = importlib.import_module("torch")
    like = {"like": torch.Tensor} if results else {}
    ways = [p.get("passing") for p in params]

    def call(*args: Any) -> Any:
        def apart(x: Any) -> Any:
            if isinstance(x, torch.Tensor) and any(x is y for y in args):
                return x.clone(memory_format=torch.contiguous_format)
            return x

        positional = [x for x, way in zip(args, ways, strict=False) if way is None]  # torch omits defaults
        more = [x for xs, way in zip(args, ways, strict=False) if way == "variadic" for x in xs]
        named = {p["name"]: x for x, p in zip(args, params, strict=False) if p.get("passing") == "keyword"}
        return each(apart, function(*positional, *more, **named, **like))

    return call


def refuse_grad(op: Any, function: str, written: list[tuple[int, str]]) -> None:
    """Makes an operator refuse writes to tensors that require grad: within it gradients are off, and no check fails."""
    torch = importlib.import_module("torch")
    plain: Any = type(op)

    class Writing(plain):  # type: ignore[misc]
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if torch.is_grad_enabled():
                for i, name in written:
                    x = args[i] if i < len(args) else kwargs.get(name)
                    for y in x if isinstance(x, (list, tuple)) else [x]:
                        if isinstance(y, torch.Tensor) and y.requires_grad:
                            raise BufferError(
                                f"{function}(): argument '{name}': the tensor requires grad, and autograd would not record "
                                "writes to it; use .detach(), or torch.no_grad()"
                            )
            return plain.__call__(self, *args, **kwargs)

    if written:
        op.__class__ = Writing


def compact(fake: Callable[..., Any]) -> Callable[..., Any]:
    """An author's fake, with its tensors made contiguous, as Go functions make theirs."""
    torch = importlib.import_module("torch")

    def imagine(*args: Any) -> Any:
        return each(lambda x: x.new_empty(x.shape) if isinstance(x, torch.Tensor) else x, fake(*args))

    return imagine


def each(change: Callable[[Any], Any], result: Any) -> Any:
    """A function's result, or results, with a change applied to each."""
    if isinstance(result, (list, tuple)):
        return type(result)(each(change, x) for x in result)
    return change(result)


def derive(function: str, params: list[Declared], results: list[Declared]) -> Callable[..., Any]:
    """The fake that follows from the declaration. Raises ValueError for the first result that it leaves open."""
    for i, result in enumerate(results):
        if unknown := missing(result, [p for p in params if p["kind"] == "tensor" and not p.get("optional")]):
            raise ValueError(
                f"torch_op(): {function}(): {called(result, i)}: the declaration does not determine {unknown}: pass fake=, a "
                "function of the same arguments that returns an empty tensor like each result"
            )
    torch = importlib.import_module("torch")

    def imagine(*args: Any) -> Any:
        known = Known(function, params, args)
        made = [
            torch.empty(known.shape(result), dtype=getattr(torch, known.dtype(result)), device=known.device(result))
            for result in results
        ]
        return made[0] if len(made) == 1 else tuple(made) or None

    return imagine


def missing(result: Declared, params: list[Declared]) -> str | None:
    """What of a result the tensors that these parameters always get do not determine; None if nothing."""
    if result["kind"] == "list":
        return "the number of tensors"
    if result["shape"] is None:
        return "its shape"
    names = {extent for p in params for extent in p["shape"] or () if extent.isidentifier()}
    if unbound := [extent for extent in result["shape"] if not extent.isdigit() and extent not in names]:
        return f"its extent {unbound[0]}"
    if len(result.get("dtypes") or ()) != 1 and not any(shared(result, p, "var") for p in params):
        return "its dtype"
    if not on_cpu(result) and not any(shared(result, p, "device") for p in params):
        return "its device"
    return None


def shared(result: Declared, param: Declared, key: str) -> bool:
    return bool(result.get(key)) and result[key] == param.get(key)


def on_cpu(result: Declared) -> bool:
    return result.get("device", "") in ("", "cpu")


class Known:
    """What the arguments of one call determine: the extents and dtypes that names stand for, and the devices."""

    def __init__(self, function: str, params: list[Declared], args: tuple[Any, ...]) -> None:
        self.extents: dict[str, Any] = {}
        self.dtypes: dict[str, str] = {}
        self.devices: dict[str, Any] = {}
        for p, tensor in tensors(params, args):
            self.devices.setdefault(p.get("device", ""), tensor.device)
            if p.get("var"):
                self.dtypes.setdefault(p["var"], arrives_as(p, tensor))
            shape = p["shape"] or ["..."]
            if len(tensor.shape) < len(shape) - ("..." in shape):  # the call itself refuses all other mismatches
                raise TypeError(
                    f"{function}(): argument '{p['name']}': want [{', '.join(shape)}], got {len(tensor.shape)} axes"
                )
            for extent, n in axes(shape, tensor.shape):
                self.extents.setdefault(extent, n)

    def shape(self, result: Declared) -> list[Any]:
        return [self.extents[extent] if extent.isidentifier() else int(extent) for extent in result["shape"]]

    def dtype(self, result: Declared) -> str:
        return self.dtypes.get(result.get("var", "")) or str(result["dtypes"][0])

    def device(self, result: Declared) -> Any:
        return "cpu" if on_cpu(result) else self.devices[result["device"]]


def tensors(params: list[Declared], args: tuple[Any, ...]) -> Iterator[tuple[Declared, Any]]:
    """The tensors among the arguments, each with its declaration. Arguments at the end may be missing."""
    for p, value in zip(params, args, strict=False):
        if p["kind"] == "tensor" and value is not None:
            yield p, value
        elif p["kind"] == "list" and p["elem"]["kind"] == "tensor":
            yield from ((p["elem"] | {"name": p["name"]}, tensor) for tensor in value or ())


def arrives_as(p: Declared, tensor: Any) -> str:
    """The dtype that the function gets: arguments of other dtypes are converted to the first that it takes."""
    dtype, taken = str(tensor.dtype).removeprefix("torch."), p.get("dtypes") or ()
    return dtype if not taken or dtype in taken else str(taken[0])


def axes(shape: list[str], dims: Any) -> Iterator[tuple[str, Any]]:
    """Each extent with the size of its axis; "..." has none."""
    front = shape.index("...") if "..." in shape else len(shape)
    back = shape[front + 1 :]
    yield from zip(shape[:front], dims, strict=False)
    yield from zip(back, dims[len(dims) - len(back) :], strict=False)
