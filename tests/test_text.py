"""Texts that are not names: lone surrogates, NULs, subclasses of str; for every parameter that takes a str."""

import pickle

import pytest

import godlpack as gd


class Liar(str):
    """A str whose methods return wrong values: only its characters count."""

    def __str__(self):
        return "float32"

    __repr__ = __str__

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Raiser(str):
    def __str__(self):
        raise ZeroDivisionError

    __repr__ = __eq__ = __hash__ = __str__


TEXTS = {
    "surrogate": "\ud800",
    "surrogate behind a name": "float32\udcff",
    "surrogate before a name": "\udfffcpu",
    "pair of surrogates": "\ud83d\ude00",
    "NUL": "\0",
    "NUL behind a name": "float32\0",
    "NUL behind a device": "cpu\0",
    "empty": "",
    "emoji": "\N{GRINNING FACE}",
    "not normalized": "\ufb02oat32",
    "long": "x" * 100_000,
    "format": "%s%n{}",
    "liar": Liar("nothing"),
    "liar with a surrogate": Liar("\ud800"),
    "raiser": Raiser("nothing"),
    "raiser with a surrogate": Raiser("\ud800"),
}
TAKERS = {
    "DType": gd.DType,
    "Device": gd.Device,
    "Device id": lambda s: gd.Device(2, s),
    "empty dtype": lambda s: gd.empty(3, s),
    "empty shape": gd.empty,
    "zeros device": lambda s: gd.zeros(3, device=s),
    "full value": lambda s: gd.full(3, s),
    "full dtype": lambda s: gd.full(3, 1, s),
    "from_dlpack": gd.from_dlpack,
    "from_dlpack device": lambda s: gd.from_dlpack(gd.zeros(3), device=s),
    "from_dlpack copy": lambda s: gd.from_dlpack(gd.zeros(3), copy=s),
    "asarray": gd.asarray,
    "asarray dtype": lambda s: gd.asarray(b"abc", dtype=s),
    "asarray copy": lambda s: gd.asarray(b"abc", copy=s),
    "astype": lambda s: gd.zeros(3).astype(s),
    "to": lambda s: gd.zeros(3).to(s),
    "is_contiguous": lambda s: gd.zeros(3).is_contiguous(s),
    "reshape": lambda s: gd.zeros(3).reshape(s),
    "reshape in a tuple": lambda s: gd.zeros(3).reshape((s,)),
    "permute": lambda s: gd.zeros(3).permute(s),
    "index": lambda s: gd.zeros(3)[s],
    "stream": lambda s: gd.zeros(3).__dlpack__(stream=s),
    "max_version": lambda s: gd.zeros(3).__dlpack__(max_version=s),
    "max_version's major": lambda s: gd.zeros(3).__dlpack__(max_version=(s, 0)),
    "dl_device": lambda s: gd.zeros(3).__dlpack__(dl_device=s),
    "dl_device's type": lambda s: gd.zeros(3).__dlpack__(dl_device=(s, 0)),
    "__reduce_ex__": lambda s: gd.zeros(3).__reduce_ex__(s),
    "_rebuild dtype": lambda s: gd._core._rebuild(b"abc", s, (3,), 0),
    "_rebuild shape": lambda s: gd._core._rebuild(b"abc", "int8", s, 0),
    "typestr": lambda s: gd.asarray(described(typestr=s)),
    "version": lambda s: gd.asarray(described("__cuda_array_interface__", version=s)),
    "data": lambda s: gd.asarray(described(data=s)),
    "stream of CUDA": lambda s: enter(gd.cuda.stream(s)),
    "current_stream": gd.cuda.current_stream,
    "keyword": lambda s: gd.zeros(3, **{str.__str__(s): 1}),
    "keyword of a type": lambda s: gd.DType(**{str.__str__(s): 1}),
    "keyword of a method": lambda s: gd.zeros(3).__dlpack__(**{str.__str__(s): 1}),
}


def enter(context):
    with context:
        pass


def described(attribute="__array_interface__", **changes):
    interface = {"version": 3, "typestr": "<f4", "shape": (2,), "data": (1 << 40, False), **changes}
    return type("Array", (), {attribute: interface})()


texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@texts
@pytest.mark.parametrize("taker", TAKERS.values(), ids=TAKERS)
def test_refused(taker, text):
    """Each gets one of godlpack's errors, with a printable text, and no other exception."""
    with pytest.raises((TypeError, ValueError, BufferError, IndexError)) as caught:
        taker(text)
    assert not isinstance(caught.value, UnicodeError)
    str(caught.value).encode()


@texts
@pytest.mark.parametrize("name", ["float32", "cpu"])
def test_equals_nothing(text, name):
    label = gd.DType(name) if name == "float32" else gd.Device(name)
    if type(text) is str:
        assert label != text and (label == text) is False
    else:  # the subclass's method runs first, so call ours directly
        assert type(label).__eq__(label, text) is NotImplemented or type(label).__eq__(label, text) is False


def test_subclasses_that_behave():
    class Name(str):
        pass

    assert gd.DType(Name("int8")) == Name("int8") == gd.DType("int8")
    assert gd.zeros(3, Name("int8"), device=Name("cpu")).is_contiguous(Name("C"))
    assert gd.Device(Name("cpu")) == Name("cpu")
    assert pickle.loads(pickle.dumps(gd.DType(Name("int8")))) == "int8"


def test_liars_are_taken_by_their_characters():
    assert gd.DType(Liar("int8")).name == "int8"
    assert type(gd.Device("cpu")).__eq__(gd.Device("cpu"), Liar("cuda:0")) is False
    assert gd.zeros((2, 2)).is_contiguous(Liar("F")) is False


def test_names_of_types():
    """Errors contain the argument's type name, whatever it is."""
    for name in ("\ud800", "a\0b", "%s", ""):
        try:
            stranger = type(name, (), {})
        except ValueError:  # Python's own limit
            continue
        stranger.__module__ = name
        for taker in (gd.from_dlpack, gd.asarray, gd.DType, lambda x: gd.full(3, x)):
            with pytest.raises(TypeError):
                taker(stranger())
