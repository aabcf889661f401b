"""Libraries of Go functions as Python modules. The sidecar lists a library's functions without opening it."""

from __future__ import annotations

import ast
import copyreg
import functools
import inspect
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from pickle import PicklingError
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from ._classes import ExportedType, class_of
from ._core import Function, Method, Object, _declarations, _function, _set_classes
from ._exceptions import ExportedException, exceptions_of, raises
from ._threads import register_threadpool
from ._values import ExportedEnum, ExportedRecord, Types, converted

SIDECAR_VERSION = 1
# The classes of Go's parts of iterators, iterables and coroutines, in each library that has some.
HIDDEN_CLASSES = ("_Iterator", "_Sequence", "_Task", "_Notifier")
HIDDEN_ROLES = ("next", "result", "feed")  # of functions that belong to the one before them


class Origin(NamedTuple):
    """The origin of functions, as their pickles record it."""

    how: str  # "package": by reference; "path": by load_module; "folder": by load; "source": by load_inline
    what: str  # the package, the library's path, the folder, or the source
    module: str  # name of the functions' module
    library: str
    file: int  # inode and time of change of the library: a library rebuilt in place has other functions
    changed: int


# The array type of each framework that a declaration may name.
FRAMEWORKS = {
    "godlpack": ("godlpack", "Tensor"),
    "numpy": ("numpy", "ndarray"),
    "torch": ("torch", "Tensor"),
    "jax": ("jax", "Array"),
    "cupy": ("cupy", "ndarray"),
}


class ByFunction:
    """The default in a signature that stands for the function's own."""

    def __repr__(self) -> str:
        return "..."


BY_FUNCTION = ByFunction()

# The declaration of each Function, as package kernel writes it: for code that wraps functions.
declarations: WeakKeyDictionary[Function | Method, dict[str, Any]] = WeakKeyDictionary()
origins: WeakKeyDictionary[Function | Method | type[Object] | type[Exception], Origin] = WeakKeyDictionary()
# All live functions: in its own process, a pickle of one restores the same object.
alive: WeakValueDictionary[tuple[Origin, str], Function | Method] = WeakValueDictionary()
# The classes of each library, in the order of their numbers: one set for all modules of a library, as C knows it.
classes: dict[tuple[str, int, int], tuple[type[Object], ...]] = {}
exceptions: dict[tuple[str, int, int], tuple[type[Exception], ...]] = {}  # of each library, likewise
# The functions of each library that start its log records, and take them (package internal/logs): -1 and -2 among its functions.
log_functions: dict[tuple[str, int, int], tuple[Function, Function]] = {}
# The function of each library that returns the progress of its calls (package kernel): -3.
progress_functions: dict[tuple[str, int, int], Function] = {}
# What starts the log records of a library when it has been opened: in a forked child again, and after an abandoned call.
log_starters: dict[tuple[str, int, int], Callable[[], None]] = {}
making = threading.RLock()  # threads that load a library at the same time get the same functions


def unlock() -> None:
    """Replaces the lock in a forked child: the thread that held it does not exist there."""
    global making
    making = threading.RLock()


os.register_at_fork(after_in_child=unlock)


def load_module(path: str | os.PathLike[str], *, package: str | None = None) -> ModuleType:
    """Load a library of Go functions as a module.

    Parameters
    ----------
    path : str or path-like
        The library, a shared object that exports ``godlpack_library``.
    package : str, optional
        Name of the module that the functions belong to, and by which they
        are pickled. Statements of that module can then import from the
        library: ``from ._fastops import *`` for _fastops.so. Default: the
        library's own name.

    Returns
    -------
    module
        A module whose attributes are the exported functions, each a
        `Function`.

    Raises
    ------
    OSError
        There is no such file.
    ImportError
        The file is not a library of godlpack, or is one of another version.
    ValueError
        The sidecar does not describe a library.

    See Also
    --------
    load : Build the Go package in a folder.
    load_inline : Build one Go file.

    Notes
    -----
    A sidecar is a file beside the library, with the same name and the
    ending .json, that describes the functions. With a sidecar, the first
    call of a function opens the library, and its Go does not run before. If
    the library is not the one that the sidecar describes, that call raises
    RuntimeError.

    A library stays open until the process ends. After a build in place, the
    next `load_module` returns the new functions; the old ones keep the old
    code.

    The functions can be pickled, by the path or, with `package`, by
    reference.
    """
    library = Path(os.path.abspath(os.fspath(path)))  # noqa: PTH100  # resolve() would follow links away from the sidecar
    name = package or library.name.partition(".")[0].removeprefix("_")
    module = load_from(*(("package", package) if package else ("path", str(library))), name, library)
    if package:
        sys.modules[f"{package}.{library.stem}"] = module
    return module


def load_from(how: str, what: str, name: str, library: Path) -> ModuleType:
    """A module of the library's functions, whose pickles record their origin."""
    register_threadpool()
    sidecar = library.with_suffix(".json")
    declared, types, errors = read_sidecar(sidecar) if sidecar.exists() else read_library(library)
    stat = library.stat()
    origin = Origin(how, what, name, str(library), stat.st_ino, stat.st_mtime_ns)
    module = ModuleType(name, f"Functions of {library.name}.")
    check = checker(library, declared, origin)
    made: list[Function | Method] = []
    values = types_of(origin)
    with making:
        for index, declaration in reversed(list(enumerate(declared))):
            function = alive.get((origin, qualified(declaration)))
            if function is None or declarations[function] != declaration:
                function = make(origin, index, declaration, check, values, [one["name"] for one in types], made[::-1])
            made.append(function)
        made.reverse()
        if origin[3:] not in log_functions:
            log_functions[origin[3:]] = make_log_functions(origin, check)
            progress_functions[origin[3:]] = make_hidden(origin, check, -3, "progress", "show")
        exported: list[Any] = [
            *make_classes(origin, types, declared, made, check),
            *make_exceptions(origin, errors, made),
        ]
    exported += values.classes.values()
    exported = [thing for thing in exported if thing.__name__ not in HIDDEN_CLASSES]
    exported += [function for function in made if is_exported(declarations[function])]
    for thing in exported:
        setattr(module, thing.__name__, thing)
    vars(module).update(__file__=str(library), __all__=[thing.__name__ for thing in exported])
    return module


def is_exported(declaration: dict[str, Any]) -> bool:
    return not declaration.get("class") and declaration.get("role") not in HIDDEN_ROLES


@functools.cache
def types_of(origin: Origin) -> Types:
    return Types(origin.module, lambda made: origins.update({made: origin}))


def conversions(
    types: Types, declaration: dict[str, Any], after: list[Any], tasks: Callable[[], type]
) -> tuple[Callable[..., Any] | None, ...] | None:
    """The conversion of each argument, and of the result, which also gets the type of tensors; None if there are none.

    after: the functions after this one, which are first those that belong to it; tasks returns the library's class of tasks.
    """
    params, results = declaration["params"] or (), declaration["results"] or ()
    yields, awaited = declaration.get("yields"), declaration.get("async")
    if not yields and not awaited and not any(p["kind"] == "value" or "each" in p for p in (*params, *results)):
        return None
    label = f"{qualified(declaration).partition('!')[0]}()"
    feeds = iter(after)
    wants = dict(zip((p["name"] for p in params), declaration.get("wants") or (), strict=False))
    of_params: list[Callable[..., Any] | None] = []
    for p in params:
        convert = None
        if p["kind"] == "value":
            convert = converted(types.to_go(p["type"]), f"{label}: argument '{p['name']}'")
        elif "each" in p:
            sequences = import_module("._sequences", __package__)
            wanted = wants.get(p["name"], "an iterable")
            convert = sequences.giver(label, p["name"], wanted, next(feeds), p["each"]["kind"])
        of_params.append(convert)
    if yields:
        iterators = import_module("._iterators", __package__)
        pairs, tensors = len(yields) == 2, outputs(declaration) != 0
        return (
            *of_params,
            iterators.maker(qualified(declaration), after[0], pairs, tensors, tasks if awaited else None),
        )
    if awaited:
        coroutines = import_module("._tasks", __package__)
        return (*of_params, coroutines.maker(qualified(declaration), after[0], outputs(declaration) != 0))
    of_results = [types.to_python(p["type"]) if p["kind"] == "value" else None for p in results]
    if not any(of_results):
        return (*of_params, None)
    whole = of_results[0] if len(of_results) == 1 else together(of_results)
    return (*of_params, whole and converted(whole, f"{label}: result"))


def together(conversions: list[Callable[[Any], Any] | None]) -> Callable[[Any], Any]:
    """The conversion of several results."""
    return lambda values: tuple(
        x if convert is None else convert(x) for convert, x in zip(conversions, values, strict=True)
    )


SUFFIXES = {"set": "!set", "next": "!next", "result": "!result", "feed": "!feed"}


def qualified(declaration: dict[str, Any]) -> str:
    """The name of a function in its module: "search", "Index.search"; others of that name have a suffix."""
    name = f"{declaration['class']}.{declaration['name']}" if declaration.get("class") else declaration["name"]
    feeds = f" {declaration['params'][1]['name']}" if declaration.get("role") == "feed" else ""
    return name + SUFFIXES.get(declaration.get("role", ""), "") + feeds


def make_classes(
    origin: Origin,
    types: list[dict[str, Any]],
    declared: list[dict[str, Any]],
    made: list[Function | Method],
    check: Callable[..., None],
) -> tuple[type[Object], ...]:
    """The library's classes: those that other modules of the same library have, or new ones."""
    if not types:
        return ()
    key = origin[3:]
    if key not in classes:
        pairs = list(zip(declared, made, strict=True))
        classes[key] = tuple(
            class_of(one, origin.module, [pair for pair in pairs if is_member(pair[0], one["name"])]) for one in types
        )
        origins.update(dict.fromkeys(classes[key], origin))
    _set_classes(origin.library, check, classes[key])
    return classes[key]


def tasks_of(origin: Origin) -> type[Object]:
    """The library's class of tasks."""
    return next(one for one in classes[origin[3:]] if one.__name__ == "_Task")


def is_member(declaration: dict[str, Any], name: str) -> bool:
    return declaration.get("class") == name and declaration.get("role") not in HIDDEN_ROLES


def make_exceptions(
    origin: Origin, errors: list[dict[str, Any]], made: list[Function | Method]
) -> tuple[type[Exception], ...]:
    """The library's exceptions: those that other modules of the same library have, or new ones."""
    if not errors:
        return ()
    key = origin[3:]
    if key not in exceptions:
        exceptions[key] = exceptions_of(errors, origin.module)
        origins.update(dict.fromkeys(exceptions[key], origin))
    by_name = {one.__name__: one for one in exceptions[key]}
    raises.update(dict.fromkeys(made, by_name))
    return exceptions[key]


Declarations = tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]


def read_sidecar(sidecar: Path) -> Declarations:
    """The declarations of a library's functions, of its classes, and of its exceptions."""
    try:
        content = json.loads(sidecar.read_text(encoding="utf-8"))
        version, functions = content["version"], content["functions"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{sidecar} does not describe a library: {error!r}") from error
    if version != SIDECAR_VERSION:
        raise ImportError(
            f"{sidecar} has version {version}, but this godlpack supports version {SIDECAR_VERSION}: build it again"
        )
    return list(functions), list(content.get("classes") or ()), list(content.get("exceptions") or ())


def read_library(library: Path) -> Declarations:
    """Opens the library, which lists its own functions, classes and exceptions: there is no sidecar."""
    functions, types, errors = _declarations(str(library), lambda *_: None)
    declared = [json.loads(declaration) for _, declaration in functions]
    return declared, json.loads(types or "[]"), json.loads(errors or "[]")


def checker(library: Path, declared: list[dict[str, Any]], origin: Origin) -> Callable[..., None]:
    """The check that runs when a library has been opened, with the library's own declarations."""
    known = [essence(declaration) for declaration in declared]

    def check(found: list[tuple[str, str]], state: str | None, caller: str | None, forked: bool) -> None:
        """found: the library's declarations; state: what it remembers; caller: the function called after a loss."""
        if [essence(json.loads(declaration)) for _, declaration in found] != known:
            names = ", ".join(name for name, _ in found)
            raise RuntimeError(
                f"{library} is not the library that {library.stem}.json describes (it has {names}): build both again"
            )
        if state and caller:
            tell_loss(origin.module, caller, forked, **json.loads(state))
        if origin[3:] in log_starters:
            log_starters[origin[3:]]()

    return check


def tell_loss(module: str, function: str, forked: bool, fork: str, variables: list[str]) -> None:
    """Warns, or raises, that a library's Go starts anew: in a forked process, or after a call that was left."""
    names = f" ({', '.join(variables)})" if variables else ""
    what = f"this process was forked after a call of {module}"
    remedy = f"start workers by multiprocessing's spawn or forkserver, or call {module} only in the workers"
    if not forked:
        what, remedy = (
            f"a call of {module} was abandoned before its end",
            f"set {module} up again, or restart the process",
        )
    if forked and fork == "refuse":
        raise RuntimeError(f"{module}.{function}(): {what}, and lacks the state of {module}{names}: {remedy}")
    warnings.warn(
        f"{module}.{function}(): {what}, and {module} starts without its state{names}. "
        f"If that matters, {remedy}; if not, its author can declare that: //godlpack:state fork=fresh",
        RuntimeWarning,
        stacklevel=3,
    )


def wanted(function: Function | Method, name: str) -> str | None:
    """What an argument must be; None for libraries that the tool did not build."""
    declaration = declarations.get(function, {})
    names = [p["name"] for p in declaration.get("params") or ()]
    wants: dict[str, str] = dict(zip(names, declaration.get("wants") or (), strict=False))
    return wants.get(name)


def coroutine_marks(function: Function | Method) -> dict[str, object]:
    """The attributes by which inspect.iscoroutinefunction() and asyncio.iscoroutinefunction() know functions; none for others.

    Python 3.11's inspect knows no mark.
    """
    declaration = declarations.get(function, {})
    if not declaration.get("async") or declaration.get("yields"):
        return {}

    def marked() -> None: ...

    if hasattr(inspect, "markcoroutinefunction"):
        inspect.markcoroutinefunction(marked)
    return {**vars(marked), "_is_coroutine": getattr(import_module("asyncio.coroutines"), "_is_coroutine", None)}


def framework(function: Function | Method, name: str) -> type:
    """The array type of a framework, for a function that returns its arrays if no argument decides."""
    module, attribute = FRAMEWORKS[name]
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"{function.__name__}() returns tensors of {name}, which cannot be imported: {error}; "
            "install it, or pass another framework as like=, such as like=godlpack.Tensor"
        ) from error
    assert isinstance(found, type)
    return found


def essence(declaration: dict[str, Any]) -> tuple[Any, ...]:
    """The parts of a declaration that a Function is made from."""
    return (
        declaration["name"],
        declaration.get("class"),
        declaration.get("role"),
        parameters(declaration),
        outputs(declaration),
        bool(declaration.get("hold_gil")),
        declaration.get("like"),
        declaration.get("place"),
    )


def parameters(declaration: dict[str, Any]) -> list[tuple[str, bool]]:
    """Each parameter's name, and whether the function writes to its tensors."""
    return [
        (p["name"], bool(p.get("mutable") or (p.get("elem") or {}).get("mutable"))) for p in declaration["params"] or ()
    ]


def passing(declaration: dict[str, Any]) -> tuple[int, int]:
    """The number of parameters that may be passed by position, and the index of the variadic one, -1 for none."""
    ways = [p.get("passing") for p in declaration["params"] or ()]
    return ways.count(None), ways.index("variadic") if "variadic" in ways else -1


def place(declaration: dict[str, Any], names: list[str]) -> tuple[int, str, int]:
    """The place of a getter's number in the object's memory, and the class's number; the format is NUL if there is none."""
    where = declaration.get("place")
    return (where["offset"], where["format"], names.index(declaration["class"])) if where else (0, "\0", 0)


def outputs(declaration: dict[str, Any]) -> int:
    """The number of tensors a function returns; -1 for a list of tensors, an iterator or a coroutine, which allow like= but not out=."""
    results = declaration["results"] or ()  # Go writes null for none
    later = (*(declaration.get("yields") or ()), *(declaration.get("awaits") or ()))
    if any(holds_tensor(element) for element in later):
        return -1
    if any(result["kind"] == "list" and result["elem"]["kind"] == "tensor" for result in results):
        return -1
    return sum(result["kind"] == "tensor" for result in results)


def holds_tensor(value: dict[str, Any]) -> bool:
    return "tensor" in (value["kind"], value["kind"] == "list" and value["elem"]["kind"])


ROLES = {"method": 1, "get": 1, "set": 1, "new": 2}  # gd_role of C


def make(
    origin: Origin,
    index: int,
    declaration: dict[str, Any],
    check: Callable[..., None],
    types: Types,
    names: list[str],
    after: list[Function | Method],
) -> Function | Method:
    """names: of the library's classes, by their numbers; after: the functions after this one."""
    params = parameters(declaration)
    writes = sum(mutable << i for i, (_, mutable) in enumerate(params))
    text = declaration.get("signature") or written(declaration)
    name, role = declaration["name"], ROLES.get(declaration.get("role", ""), 0)
    offset, letter, number = place(declaration, names)
    if role == ROLES["new"]:
        text = f"(self, {text[1:]}" if text != "()" else "(self)"
    function = _function(
        origin.library,
        check,
        index,
        name,
        qualified(declaration).partition("!")[0],
        origin.module,
        declaration.get("docstring") or declaration.get("doc") or "",
        text,
        tuple(name for name, _ in params),
        writes,
        outputs(declaration),
        bool(declaration.get("hold_gil")),
        default_like(Path(origin.library), declaration),
        role,
        conversions(types, declaration, after, lambda: tasks_of(origin)),
        *passing(declaration),
        offset,
        letter,
        number,
    )
    declarations[function] = declaration
    origins[function] = origin
    alive[origin, qualified(declaration)] = function
    return function


def make_log_functions(origin: Origin, check: Callable[..., None]) -> tuple[Function, Function]:
    """The functions that start a library's log records, and take them."""
    start = make_hidden(origin, check, -1, "start_logs", "level", "wake")
    return start, make_hidden(origin, check, -2, "take_logs", "handled", "most")


def make_hidden(origin: Origin, check: Callable[..., None], index: int, name: str, *params: str) -> Any:
    """A function that is not in the library's table. It does not open the library."""
    names = origin.module, "", f"({', '.join(params)})", params
    return _function(origin.library, check, index, name, name, *names, 0, 0, False, None)


def reduce(function: Function | Method | type[Object] | type[Exception]) -> str | tuple[Any, ...]:
    """The pickled form of a function or a class: its name in its package, or the arguments of restore()."""
    origin, name = origins.get(function), function.__qualname__
    if origin is None:
        return name
    if origin.how != "package":
        return restore, (*origin, name)
    found = found_in(sys.modules.get(origin.module), name)
    if found is None:
        raise PicklingError(
            f"cannot pickle {function!r}: {origin.module} has no {name}: import it there, so that other processes find it"
        )
    if found is not function:
        raise PicklingError(
            f"cannot pickle {function!r}: {origin.module}.{name} is another object now; if the package was reloaded, "
            "take it from there again"
        )
    return name


copyreg.pickle(ExportedType, reduce)  # type: ignore[arg-type]
copyreg.pickle(ExportedException, reduce)  # type: ignore[arg-type]
copyreg.pickle(ExportedRecord, reduce)  # type: ignore[arg-type]
copyreg.pickle(ExportedEnum, reduce)  # type: ignore[arg-type]


def found_in(module: ModuleType | None, name: str) -> Any:
    """A function of a module, or a method of a class of it, by its name: "search", "Index.search"."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def restore(how: str, what: str, module: str, library: str, file: int, changed: int, name: str) -> Any:
    """The function or class that reduce() pickled: the same object in its process; elsewhere its library is loaded or built.

    Raises ImportError if the library, or the folder it was built from, does not exist or has no such function;
    BuildError if the library must be built and cannot be.
    """
    origin = Origin(how, what, module, library, file, changed)
    function: Any = alive.get((origin, name)) or types_of(origin).classes.get(name)
    if function is None:
        types = (*classes.get(origin[3:], ()), *exceptions.get(origin[3:], ()))
        function = next((c for c in types if c.__name__ == name), None)
    if function is None:
        function = found_in(load_again(origin), name)
    if function is None:
        raise ImportError(f"cannot unpickle {module}.{name}: {origin_text(origin)} has no such function here")
    return function


@functools.cache  # libraries are never closed, and workers unpickle a function with each task
def load_again(origin: Origin) -> ModuleType:
    inline = import_module("._inline", __package__) if origin.how != "path" else None
    try:
        if inline:
            return inline.load_again(origin.how, origin.what, origin.module, Path(origin.library))  # type: ignore[no-any-return]
        return load_from(origin.how, origin.what, origin.module, Path(origin.library))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ImportError(
            f"cannot unpickle functions of {origin.module}: {origin_text(origin)} is not on this machine: copy it there, or "
            "pickle a function of load_inline, whose pickle contains its source"
        ) from error


def origin_text(origin: Origin) -> str:
    return "its source" if origin.how == "source" else origin.what


def default_like(library: Path, declaration: dict[str, Any]) -> str | None:
    """The framework of results if no argument is a tensor; None means godlpack."""
    name: str | None = declaration.get("like")
    if name is not None and name not in FRAMEWORKS:
        raise ImportError(
            f"{library}: {declaration['name']}() returns tensors of {name!r}, but this godlpack supports "
            f"{', '.join(FRAMEWORKS)}: build it again with this godlpack"
        )
    return None if name == "godlpack" else name


def written(declaration: dict[str, Any]) -> str:
    """A signature made from a declaration that has none."""
    parts = [f"{p['name']}={p['default']}" if p.get("default") else p["name"] for p in declaration["params"] or ()]
    tensors = outputs(declaration)
    return f"({', '.join(parts + ['*', 'like=None'] * bool(tensors) + ['out=None'] * (tensors > 0))})"


def literal(node: ast.expr) -> Any:
    """The value of a default, which is a literal, timedelta(seconds=2), or ... for one that the function supplies."""
    if isinstance(node, ast.Constant) and node.value is ...:
        return BY_FUNCTION
    if isinstance(node, ast.Call):
        return timedelta(seconds=ast.literal_eval(node.keywords[0].value))
    return ast.literal_eval(node)


def signature(text: str) -> inspect.Signature:
    """Parses a signature in Python's syntax with literal defaults: "(x, axis=-1, *, like=None)"."""
    (statement,) = ast.parse(f"def function{text}: ...").body
    assert isinstance(statement, ast.FunctionDef)
    a = statement.args
    defaults = [inspect.Parameter.empty] * (len(a.posonlyargs) + len(a.args) - len(a.defaults))
    values = iter(defaults + [literal(node) for node in a.defaults])
    kinds = (
        (a.posonlyargs, inspect.Parameter.POSITIONAL_ONLY),
        (a.args, inspect.Parameter.POSITIONAL_OR_KEYWORD),
    )
    parts = [inspect.Parameter(p.arg, kind, default=next(values)) for params, kind in kinds for p in params]
    if a.vararg:
        parts.append(inspect.Parameter(a.vararg.arg, inspect.Parameter.VAR_POSITIONAL))
    for p, node in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        default = inspect.Parameter.empty if node is None else literal(node)
        parts.append(inspect.Parameter(p.arg, inspect.Parameter.KEYWORD_ONLY, default=default))
    return inspect.Signature(parts)
