"""What is read is what Python's own modules, pyarrow and Pillow read: of all formats, in each order, again after a stop."""

import _thread
import asyncio
import gc
import itertools
import json
import os
import pickle
import random
import socket
import threading
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from making import encoded, lines, picture, served, tar
from PIL import Image

import shards
from shards import Loader, Ragged

COLUMNS = {
    "id": "int64",
    "x": "float32",
    "y": "float64",
    "text": "str",
    "raw": "bytes",
    "tokens": "int64[]",
    "weights": "float32[]",
    "point": "float64[3]",
    "meta.label": "int64",
}


def row(i):
    draw = random.Random(i)
    return {
        "id": i,
        "x": draw.random() * 10 ** draw.randint(-20, 20),
        "y": draw.random() * 10 ** draw.randint(-200, 200),
        "text": draw.choice(["", "é\n\"'\\", "日本語\u2028", "a" * draw.randint(0, 300)]),
        "raw": draw.choice(["", "bytes\u0000é"]),
        "tokens": [draw.randint(-(2**63), 2**63 - 1) for _ in range(draw.randint(0, 9))],
        "weights": [draw.random() for _ in range(draw.randint(0, 3))],
        "point": [draw.random() for _ in range(3)],
        "meta": {"label": draw.randint(0, 9), "more": [None, {"id": 1}]},
        "unused": draw.choice([None, [1, [2]], {"a": 1.5e300}]),
    }


def expected(rows):
    """What a batch of rows is, by NumPy."""

    def ragged(name, dtype):
        values = np.array(list(itertools.chain.from_iterable(r[name] for r in rows)), dtype)
        return Ragged(values, np.cumsum([0, *(len(r[name]) for r in rows)]))

    return {
        "id": np.array([r["id"] for r in rows], np.int64),
        "x": np.array([r["x"] for r in rows], np.float32),
        "y": np.array([r["y"] for r in rows], np.float64),
        "text": [r["text"] for r in rows],
        "raw": [r["raw"].encode() for r in rows],
        "tokens": ragged("tokens", np.int64),
        "weights": ragged("weights", np.float32),
        "point": np.array([r["point"] for r in rows]).reshape(len(rows), 3),
        "meta.label": np.array([r["meta"]["label"] for r in rows], np.int64),
    }


def same(a, b):
    assert list(a) == list(b)
    for name, x in a.items():
        y = b[name]
        assert type(x) is type(y), name
        if isinstance(x, list):
            assert x == y, name
        for p, q in zip(*((x, y) if isinstance(x, Ragged) else ([x], [y])), strict=True):
            if isinstance(p, np.ndarray):
                assert p.dtype == q.dtype, name
                np.testing.assert_array_equal(p, q, name)


def ids(loader):
    """The numbers of the samples of each batch."""
    return [batch["id"].tolist() for batch in loader]


def flat(lists):
    return list(itertools.chain.from_iterable(lists))


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """10 files with 0 to 90 samples, 437 in all, which are numbered, and a pattern for them."""
    folder = tmp_path_factory.mktemp("numbered")
    sizes = [90, 17, 0, 64, 1, 80, 33, 48, 16, 88]
    begins = np.cumsum([0, *sizes])
    for i, (begin, end) in enumerate(itertools.pairwise(begins.tolist())):
        lines(folder / f"{i:02}.jsonl", [{"id": n} for n in range(begin, end)])
    return f"{folder}/{{00..09}}.jsonl"


# ---- formats ----


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.jsonl.gz", "a.jsonl.zst"])
def test_lines(tmp_path, name):
    rows = [row(i) for i in range(1000)]
    lines(tmp_path / name, rows)
    batches = list(Loader(tmp_path / name, COLUMNS, batch=96))
    for i, batch in enumerate(batches):
        same(batch, expected(rows[96 * i : 96 * i + 96]))
    assert len(batches) == 11


def test_lines_of_any_length(tmp_path):
    """Around the chunks that a file is read in; with empty lines, other line ends, and without the last one."""
    rows = [{"text": "x" * n} for n in (0, 262_130, 262_131, 262_132, 262_133, 262_134, 3_000_000, 1, 524_288, 7)]
    text = b"\r\n\n \n".join(json.dumps(r).encode() for r in rows)
    (tmp_path / "a.jsonl").write_bytes(text)
    (batch,) = Loader(tmp_path / "a.jsonl", {"text": "str"})
    assert batch["text"] == [r["text"] for r in rows]


def test_floats_are_exact(tmp_path):
    """As by Python's own parser, to the last bit."""
    draw = random.Random(5)
    numbers = [draw.random() * 10 ** draw.randint(-300, 300) for _ in range(5000)]
    numbers += [5e-324, 1.7976931348623157e308, 0.1, 1e22, 9007199254740993.0, -0.0]
    lines(tmp_path / "a.jsonl", [{"y": n, "x": np.float32(n).item() if abs(n) < 1e38 else 0} for n in numbers])
    (batch,) = Loader(tmp_path / "a.jsonl", {"x": "float32", "y": "float64"}, batch=10_000)
    np.testing.assert_array_equal(batch["y"].view(np.int64), np.array(numbers).view(np.int64))
    np.testing.assert_array_equal(batch["x"], np.float32([n if abs(n) < 1e38 else 0 for n in numbers]))


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.zst"])
def test_tar(tmp_path, name):
    pictures = [picture(i) for i in range(20)]
    samples = [
        {
            ("png" if i % 2 else "jpg"): encoded(image, "png" if i % 2 else "jpeg"),
            "cls": b"%d\n" % (i - 5),
            "TXT": f"text é {i}".encode(),
            "json": json.dumps(list(range(i))).encode(),
            "score.txt": b" 1.5e3",
            "bin": bytes(range(i)),
        }
        for i, image in enumerate(pictures)
    ]
    tar(tmp_path / name, samples)
    columns = {
        "jpg;png": "image[20,30]",
        "cls": "int64",
        "txt": "str",
        "json": "int64[]",
        "score.txt": "float32",
        "bin": "bytes",
    }
    (batch,) = Loader(tmp_path / name, columns)
    assert batch["cls"].tolist() == [i - 5 for i in range(20)]
    assert batch["txt"] == [f"text é {i}" for i in range(20)]
    assert batch["bin"] == [bytes(range(i)) for i in range(20)]
    assert batch["score.txt"].tolist() == [1500] * 20
    assert batch["json"].values.tolist() == [j for i in range(20) for j in range(i)]
    assert batch["jpg;png"].shape == (20, 3, 20, 30) and batch["jpg;png"].dtype == np.uint8
    for ours, image in zip(batch["jpg;png"], pictures, strict=True):
        theirs = np.asarray(image.resize((30, 20), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
        assert np.abs(ours - theirs.astype(int)).mean() < 1


def table(rows):
    lists = {"tokens": pa.list_(pa.int64()), "weights": pa.list_(pa.float32()), "point": pa.list_(pa.float64())}
    types = {"id": pa.int64(), "x": pa.float32(), "y": pa.float64(), "text": pa.string(), "raw": pa.binary(), **lists}
    columns = {name: pa.array([r[name] for r in rows], kind) for name, kind in types.items()}
    columns["meta"] = pa.array([{"label": r["meta"]["label"]} for r in rows])
    return pa.table(columns)


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet(tmp_path, compression, version):
    rows = [row(i) for i in range(700)]
    options = {"compression": compression, "row_group_size": 256, "data_page_version": version, "data_page_size": 2000}
    pq.write_table(table(rows), tmp_path / "a.parquet", **options)
    for i, batch in enumerate(Loader(tmp_path / "a.parquet", COLUMNS, batch=100)):
        same(batch, expected(rows[100 * i : 100 * i + 100]))
    assert i == 6


def test_parquet_types(tmp_path):
    columns = {
        "i8": pa.array([-1, 2], pa.int8()),
        "u8": pa.array([255, 2], pa.uint8()),
        "u32": pa.array([2**32 - 1, 2], pa.uint32()),
        "u64": pa.array([2**63 - 1, 2], pa.uint64()),
        "bool": pa.array([True, False]),
        "fixed": pa.array([b"abcd", b"efgh"], pa.binary(4)),
        "dict": pa.array(["a", "b"]).dictionary_encode(),
        "large": pa.array([[], [1]], pa.large_list(pa.int32())),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    kinds = {"fixed": "bytes", "dict": "str", "large": "int64[]"}
    (batch,) = Loader(tmp_path / "a.parquet", {name: kinds.get(name, "int64") for name in columns})
    assert [batch[name].tolist() for name in ("i8", "u8", "u32", "u64", "bool")] == [
        [-1, 2],
        [255, 2],
        [2**32 - 1, 2],
        [2**63 - 1, 2],
        [1, 0],
    ]
    assert batch["fixed"] == [b"abcd", b"efgh"] and batch["dict"] == ["a", "b"]
    assert batch["large"].offsets.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        (pa.array([1, None]), "int64", "sample 1: a: it is null"),
        (pa.array([[1], None]), "int64[]", "sample 1: a: it is null"),
        (pa.array([[1], [None]]), "int64[]", "sample 1: a: it is null"),
        (pa.array([2**63, 1], pa.uint64()), "int64", "want an int64, got 9223372036854775808"),
        (pa.array([[[1]]]), "int64[]", "lists of lists"),
        (pa.array([["a"]]), "int64[]", "lists of texts"),
        (pa.array([1.5]), "int64", "a: want int64, got 1.5"),
        (pa.array([1]), "str", "a: want a text, got 1"),
        (pa.array([[1, 2]]), "int64", "want int64, got a list"),
        (pa.array([[1, 2]]), "int64[3]", "want a list of 3 numbers, got 2"),
        (pa.array([Decimal("1.25")]), "float64", "decimals|DECIMAL.*cannot be read"),
    ],
)
def test_parquet_that_does_not_fit(tmp_path, values, kind, why):
    pq.write_table(pa.table({"a": values}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=f"a.parquet.*{why}"):
        list(Loader(tmp_path / "a.parquet", {"a": kind}))


def test_pictures(tmp_path):
    for i in range(150):
        folder = tmp_path / ["cat", "dog"][i % 2]
        folder.mkdir(exist_ok=True)
        (folder / f"{i:03}.{'png' if i % 3 else 'JPG'}").write_bytes(encoded(picture(i), "png" if i % 3 else "jpeg"))
    (tmp_path / "cat" / "notes.txt").write_text("no picture")
    loader = Loader(tmp_path, {"image": "image[40,50]", "label": "str", "path": "str"}, batch=150)
    (batch,) = loader
    paths = sorted(str(path) for path in tmp_path.rglob("*.*g")) + sorted(str(path) for path in tmp_path.rglob("*.JPG"))
    assert sorted(batch["path"]) == sorted(paths)
    for ours, path, label in zip(batch["image"], batch["path"], batch["label"], strict=True):
        assert label == path.split("/")[-2]
        assert np.abs(ours - np.asarray(Image.open(path)).transpose(2, 0, 1).astype(int)).mean() < 1
    shuffled = [path for batch in Loader(tmp_path, {"path": "str"}, shuffle=100) for path in batch["path"]]
    assert shuffled != batch["path"] and sorted(shuffled) == sorted(paths)


def test_frameworks(tmp_path):
    lines(tmp_path / "a.jsonl", [row(i) for i in range(5)])
    (batch,) = Loader(tmp_path / "a.jsonl", COLUMNS, like=torch.Tensor)
    (want,) = Loader(tmp_path / "a.jsonl", COLUMNS)
    assert isinstance(batch["id"], torch.Tensor) and isinstance(batch["tokens"].offsets, torch.Tensor)
    same({k: v for k, v in want.items() if k in ("text", "raw")}, {k: batch[k] for k in ("text", "raw")})
    np.testing.assert_array_equal(batch["point"].numpy(), want["point"])
    batch["id"] += 1  # it is writable memory of its own
    assert batch["id"].tolist() == [1, 2, 3, 4, 5]


def test_memory_of_a_batch_outlives_all(tmp_path):
    lines(tmp_path / "a.jsonl", [row(i) for i in range(64)])
    kept = [batch["id"] for batch in Loader(tmp_path / "a.jsonl", COLUMNS, batch=4)]
    gc.collect()
    list(Loader(tmp_path / "a.jsonl", COLUMNS, batch=4))
    assert np.concatenate(kept).tolist() == list(range(64))


# ---- order ----


@pytest.mark.parametrize("open", [1, 3, 20])
@pytest.mark.parametrize("workers", [0, 1, 7])
def test_files_order(numbered, open, workers):
    batches = ids(Loader(numbered, {"id": "int64"}, batch=50, open=open, workers=workers))
    assert flat(batches) == list(range(437)) and [len(b) for b in batches] == [50] * 8 + [37]
    assert len(ids(Loader(numbered, {"id": "int64"}, batch=50, drop_last=True))) == 8


@pytest.mark.parametrize("shuffle", [2, 30, 100, 10_000])
@pytest.mark.parametrize("open", [1, 4, 20])
def test_random_order(numbered, shuffle, open):
    def order(seed=1, epoch=0, workers=0):
        loader = Loader(numbered, {"id": "int64"}, shuffle=shuffle, open=open, seed=seed, workers=workers)
        loader.set_epoch(epoch)
        return flat(ids(loader))

    first = order()
    assert sorted(first) == list(range(437)) and first != list(range(437))
    assert order() == first and order(workers=3) == first
    assert order(epoch=1) != first and order(seed=2) != first


def test_epochs_follow_each_other(numbered):
    loader = Loader(numbered, {"id": "int64"}, shuffle=100)
    first, second = ids(loader), ids(loader)
    assert first != second and sorted(flat(first)) == sorted(flat(second)) and loader.epoch == 2
    loader.set_epoch(0)
    assert ids(loader) == first


def test_a_full_shuffle_is_uniform(tmp_path):
    """Each sample is at each place about equally often."""
    lines(tmp_path / "a.jsonl", [{"id": i} for i in range(8)])
    counts = np.zeros((8, 8), int)
    loader = Loader(tmp_path / "a.jsonl", {"id": "int64"}, shuffle=8)
    for _ in range(800):
        (order,) = ids(loader)
        counts[order, range(8)] += 1
    assert counts.min() > 50 and counts.max() < 160  # 100 are expected


@pytest.mark.parametrize("shuffle", [0, 7, 100, 5000])
@pytest.mark.parametrize("open", [1, 3])
@pytest.mark.parametrize("batch", [1, 16, 50])
def test_resumed(numbered, shuffle, open, batch):
    """From each place on, the rest is what it would have been; through JSON."""
    options = {"shuffle": shuffle, "open": open, "batch": batch, "seed": 3}
    loader, states = Loader(numbered, {"id": "int64"}, **options), []
    loader.set_epoch(4)
    begin, batches = loader.state_dict(), []
    for one in loader:
        batches.append(one["id"].tolist())
        states.append(json.dumps(loader.state_dict()))
    for at in {0, 1, len(batches) // 2, len(batches) - 2, len(batches) - 1, random.randrange(len(batches))}:
        again = Loader(numbered, {"id": "int64"}, **options)
        again.load_state_dict(json.loads(states[at]))
        assert ids(again) == batches[at + 1 :], at
        assert again.epoch == 5
    again.load_state_dict(begin)
    assert ids(again) == batches


@pytest.mark.parametrize("shuffle", [0, 40])
def test_resumed_in_each_format(tmp_path, shuffle):
    rows = [row(i) for i in range(300)]
    lines(tmp_path / "a.jsonl.gz", rows)
    pq.write_table(table(rows), tmp_path / "b.parquet", row_group_size=64)
    tar(tmp_path / "c.tar", [{"id": b"%d" % i} for i in range(300)])
    loader = Loader(tmp_path, {"id": "int64"}, shuffle=shuffle, open=2)
    batches, states = [], []
    for batch in loader:
        batches.append(batch["id"].tolist())
        states.append(loader.state_dict())
    for at in range(0, len(batches), 3):
        loader.load_state_dict(states[at])
        assert ids(loader) == batches[at + 1 :]


def test_a_state_of_another_loader(numbered):
    loader = Loader(numbered, {"id": "int64"})
    next(iter(loader))
    state = loader.state_dict()
    for options in {"batch": 31}, {"shuffle": 1}, {"seed": 1}, {"open": 2}, {"rank": 1, "world": 2}:
        other = Loader(numbered, {"id": "int64"}, **options)
        other.load_state_dict(state)
        with pytest.raises(ValueError, match="state: it is of a loader with other files or options"):
            next(iter(other))
    bad = json.loads(json.dumps(state))
    for key, value in [("turn", 9), ("next", -1), ("open", [{"shard": 99, "sample": 0}]), ("skip", -1), ("epoch", 7)]:
        bad["state"] = {**state["state"], key: value}
        loader.load_state_dict(bad)
        with pytest.raises(ValueError, match="state: "):
            next(iter(loader))


def test_parts(numbered):
    for shuffle, world in itertools.product([0, 50], [1, 3, 10]):
        parts = [
            flat(ids(Loader(numbered, {"id": "int64"}, shuffle=shuffle, rank=i, world=world))) for i in range(world)
        ]
        assert sorted(flat(parts)) == list(range(437))
    with pytest.raises(ValueError, match="10 shards are too few for 11 workers"):
        Loader(numbered, {"id": "int64"}, world=11)
    with pytest.raises(ValueError, match="part 3 of 3"):
        Loader(numbered, {"id": "int64"}, rank=3, world=3)


# ---- torch, asyncio, processes ----


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader(numbered, workers, method):
    if not workers and method == "spawn":
        pytest.skip("there are no processes")
    dataset = shards.TorchDataset(numbered, {"id": "int64"}, shuffle=50, batch=20)
    method = {"multiprocessing_context": method} if workers else {}
    loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers, **method)
    batches = [batch["id"] for batch in loader]
    assert all(isinstance(batch, torch.Tensor) for batch in batches)
    assert sorted(torch.cat(batches).tolist()) == list(range(437))


def test_stateful_data_loader(numbered):
    stateful = pytest.importorskip("torchdata.stateful_dataloader")

    def loader():
        dataset = shards.TorchDataset(numbered, {"id": "int64"}, shuffle=50, batch=20)
        return stateful.StatefulDataLoader(dataset, batch_size=None, num_workers=2)

    whole, first = [batch["id"].tolist() for batch in loader()], loader()
    begun = [batch["id"].tolist() for batch in itertools.islice(first, 9)]
    rest = loader()
    rest.load_state_dict(first.state_dict())
    assert begun + [batch["id"].tolist() for batch in rest] == whole


def test_async_for(numbered):
    options = {"shuffle": 50, "batch": 20}

    async def read(loader, most=None):
        got = []
        async for batch in loader:
            got.append(batch["id"].tolist())
            if len(got) == most:
                break
        return got

    async def main():
        loader = Loader(numbered, {"id": "int64"}, **options)
        begun = await read(loader, 7)
        again = Loader(numbered, {"id": "int64"}, **options)
        again.load_state_dict(loader.state_dict())
        assert begun + await read(again) == await read(loader) == ids(Loader(numbered, {"id": "int64"}, **options))
        loaders = [Loader(numbered, {"id": "int64"}, seed=i, **options) for i in range(20)]
        assert await asyncio.gather(*map(read, loaders)) == [
            ids(Loader(numbered, {"id": "int64"}, seed=i, **options)) for i in range(20)
        ]

    asyncio.run(main())


def test_pickles(numbered):
    loader = Loader(numbered, {"id": "int64"}, shuffle=50)
    whole = ids(loader)
    loader.set_epoch(0)
    next(iter(loader))
    state = loader.state_dict()
    loader = pickle.loads(pickle.dumps(loader))
    assert ids(loader) == whole
    loader.load_state_dict(state)
    assert ids(pickle.loads(pickle.dumps(loader))) == whole[1:]


def test_loops_are_apart(numbered):
    """Each begins at the beginning, while others go on, and after one that was left; but once after load_state_dict."""
    loader = Loader(numbered, {"id": "int64"}, shuffle=50)
    for a, b, _ in zip(loader, loader, range(5), strict=False):
        assert a["id"].tolist() == b["id"].tolist()
    whole = ids(loader)
    loader.set_epoch(0)
    next(iter(loader))
    loader.load_state_dict(loader.state_dict())
    state = loader.state_dict()
    assert ids(loader) == whole[1:]
    assert loader.state_dict() == {"epoch": 1, "state": None} != state
    loader.set_epoch(0)
    assert ids(loader) == whole


def test_forked(numbered):
    loader = Loader(numbered, {"id": "int64"})
    want = ids(loader)
    loader.set_epoch(0)
    batches = iter(loader)
    next(batches)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            loader.set_epoch(0)
            status = 0 if ids(loader) == want else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [batch["id"].tolist() for batch in batches] == want[1:]


def count(what):
    return len(list(Path("/proc/self", what).iterdir()))


def test_left_early(numbered):
    """Files, threads and memory come back."""
    for _ in range(3):
        next(iter(Loader(numbered, {"id": "int64"}, shuffle=50)))
    gc.collect()
    time.sleep(0.3)
    files = count("fd")
    for i in range(200):
        for at, _ in enumerate(Loader(numbered, {"id": "int64"}, shuffle=50, batch=5)):
            if at == i % 20:
                break
    gc.collect()
    end = time.monotonic() + 20
    while count("fd") > files + 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert count("task") < 40


def test_threads(numbered):
    want, results = ids(Loader(numbered, {"id": "int64"}, shuffle=40)), []
    threads = [
        threading.Thread(target=lambda: results.append(ids(Loader(numbered, {"id": "int64"}, shuffle=40))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [want] * 8


# ---- what is wrong ----


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        ({}, {}, "columns: want at least one"),
        ({"id": "int32"}, {}, 'columns: "id": want int64, .* got "int32"'),
        ({"id": "image"}, {}, r"image\[height,width\]"),
        ({"id": "image[0,5]"}, {}, "want extents of 1 to 65535"),
        ({"id": "int64[99999999999999999999]"}, {}, "want extents of 1 to 65535"),
        ({"id": "int64"}, {"batch": 0}, "batch: want at least 1, got 0"),
        ({"id": "int64"}, {"shuffle": -1}, "shuffle: want the number of samples"),
        ({"id": "int64"}, {"open": 0}, "open: want at least 1"),
        ({"id": "int64"}, {"endpoint": "nowhere"}, "endpoint: want a URL"),
    ],
)
def test_arguments(numbered, columns, options, why):
    urls = "s3://bucket/a.tar" if "endpoint" in options else numbered
    with pytest.raises(ValueError, match=why):
        Loader(urls, columns, **options)


@pytest.mark.parametrize(
    ("name", "error", "why"),
    [
        ("none.tar", FileNotFoundError, "none.tar"),
        ("*.tar", ValueError, r"no files at .*\*\.tar"),
        ("a.csv", ValueError, "want a name that ends in .tar"),
        ("{1..x}.tar", ValueError, r"want a range such as \{000..127\}"),
        ("{5..1}.tar", ValueError, "want a range"),
        ("{1..5.tar", ValueError, "want a range"),
        ("{1..99999999}.tar", ValueError, "more than 10000000 files"),
        ("{1..99999}{1..99999}.tar", ValueError, "more than 10000000 files"),
        ("", ValueError, "no files at"),
        ("[.tar", ValueError, "syntax error in pattern"),
    ],
)
def test_urls(tmp_path, name, error, why):
    (tmp_path / "a.csv").write_text("1")
    with pytest.raises(error, match=why):
        Loader(f"{tmp_path}/{name}", {"id": "int64"})
    with pytest.raises(ValueError, match="want a path, or a URL that begins with http"):
        Loader("gopher://a.tar", {"id": "int64"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"id": 1}\n{"id": 2', "sample 1: no JSON"),
        (b"[1]", r"want a JSON object, got \"\[1\]\""),
        (b'{"x": 1}', "it has no field id"),
        (b'{"id": 1.5}', 'id: want int64, got JSON\'s "1.5"'),
        (b'{"id": 9223372036854775808}', "want int64, got JSON's"),
        (b'{"id": "1"}', "want int64"),
        (b'{"id": null}', 'want int64, got JSON\'s "null"'),
        (b'{"id": [1]}', "want int64"),
        (b"\x80\x81", "sample 0: no JSON"),
    ],
)
def test_bad_lines(tmp_path, text, why):
    (tmp_path / "a.jsonl").write_bytes(text)
    with pytest.raises(ValueError, match=f"a.jsonl, sample [01]: .*{why}|{why}"):
        list(Loader(tmp_path / "a.jsonl", {"id": "int64"}))


def test_batches_before_an_error_come(tmp_path):
    lines(tmp_path / "a.jsonl", [{"id": i} for i in range(100)])
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write("oops\n")
    got = []
    with pytest.raises(ValueError, match="sample 100"):
        got.extend(batch["id"].tolist() for batch in Loader(tmp_path / "a.jsonl", {"id": "int64"}, batch=10))
    assert flat(got) == list(range(100))


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst", "a.tar", "a.tgz", "a.parquet"])
def test_files_that_are_cut(tmp_path, name):
    """Nothing is lost in silence: a file that ends early is an error, wherever that is."""
    if "jsonl" in name:
        lines(tmp_path / name, [{"id": i} for i in range(20_000)])
    elif "parquet" in name:
        pq.write_table(pa.table({"id": list(range(20_000))}), tmp_path / name)
    else:
        tar(tmp_path / name, [{"id": b"%d" % i} for i in range(500)])
    whole = (tmp_path / name).read_bytes()
    lengths = (
        [0, 1, 700, 5000, 5120] if name == "a.tar" else [0, 1, 5, len(whole) // 3, len(whole) // 2 + 1, len(whole) - 9]
    )
    for length in lengths:
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises((EOFError, ValueError, OSError, RuntimeError), match=name):
            list(Loader(tmp_path / name, {"id": "int64"}))


def test_damage(tmp_path):
    """A changed byte is an error, or another value: never a crash."""
    rows, draw = [row(i) for i in range(50)], random.Random(7)
    lines(tmp_path / "a.jsonl.gz", rows)
    lines(tmp_path / "b.jsonl.zst", rows)
    pq.write_table(table(rows), tmp_path / "c.parquet")
    samples = [{"id": b"%d" % i, "text": b"t", "raw": encoded(picture(i))} for i in range(20)]
    tar(tmp_path / "d.tar", samples)
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(draw.randint(1, 4)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            path.write_bytes(data)
            columns = {"id": "int64", "text": "str", "raw": "image[9,9]" if path.suffix == ".tar" else "bytes"}
            try:
                for _ in Loader(path, columns):
                    pass
            except (EOFError, ValueError, OSError, RuntimeError) as error:
                assert path.name in str(error)
        path.write_bytes(whole)


def test_tar_samples_that_lack_something(tmp_path):
    tar(tmp_path / "a.tar", [{"cls": b"1", "txt": b"a"}, {"txt": b"b"}])
    with pytest.raises(ValueError, match="sample 1: some/000001: it has no file cls, only txt"):
        list(Loader(tmp_path / "a.tar", {"cls": "int64"}))
    tar(tmp_path / "a.tar", [{"jpg": encoded(picture(1))[:200]}])
    with pytest.raises(ValueError, match=r"a\.tar, sample 0: jpg: "):
        list(Loader(tmp_path / "a.tar", {"jpg": "image[5,5]"}))
    tar(tmp_path / "a.tar", [{"jpg": b"a", "png": b"b"}])
    with pytest.raises(ValueError, match="some/000000: it has two files for jpg;png"):
        list(Loader(tmp_path / "a.tar", {"jpg;png": "bytes"}))


# ---- HTTP ----


@pytest.fixture
def server(tmp_path):
    rows = [row(i) for i in range(3000)]
    lines(tmp_path / "a.jsonl", rows)
    lines(tmp_path / "b.jsonl.gz", rows)
    pq.write_table(table(rows), tmp_path / "c.parquet")
    tar(tmp_path / "d.tar", [{"id": b"%d" % i} for i in range(300)])
    with served(tmp_path) as server:
        yield server


NAMES = ["a.jsonl", "b.jsonl.gz", "c.parquet", "d.tar"]


def read(url, **options):
    return flat(ids(Loader(url, {"id": "int64"}, batch=100, **options)))


@pytest.mark.parametrize("name", NAMES)
def test_http(server, name):
    assert read(f"{server.url}/{name}") == list(range(300 if "tar" in name else 3000))


@pytest.mark.parametrize("name", NAMES)
def test_connections_that_fail(server, name):
    """Each answer is cut, and some are errors: reading goes on where it was."""
    server.cut_after = 100_000 if "tar" in name or "jsonl" in name else 30_000
    server.statuses = [503, 200, 429, 500]
    assert read(f"{server.url}/{name}") == list(range(300 if "tar" in name else 3000))
    assert any(part for _, part in server.requests)


def test_a_server_that_is_gone(server):
    server.statuses = [500] * 5
    with pytest.raises(Exception, match="500 Internal Server Error"):
        read(f"{server.url}/a.jsonl")
    with pytest.raises(FileNotFoundError, match=r"none\.tar"):
        read(f"{server.url}/none.tar")
    with pytest.raises(Exception, match="refused"):
        read("http://127.0.0.1:1/a.tar")


def test_a_file_that_changes(server):
    server.cut_after = 100_000
    loader = Loader(f"{server.url}/a.jsonl", {"id": "int64"}, batch=10, open=1)
    with pytest.raises(Exception, match="changed while it was read"):
        for _ in loader:
            server.version = "2"


def test_a_server_without_parts(server):
    server.cut_after, server.parts = 100_000, False
    with pytest.raises(Exception, match="does not send parts of files"):
        read(f"{server.url}/a.jsonl")


def test_ctrl_c_while_a_server_sleeps(tmp_path):
    """As for any iterator of Go: the wait for a batch ends at once."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        loader = Loader(f"http://127.0.0.1:{silent.getsockname()[1]}/a.tar", {"id": "int64"})
        threading.Timer(0.3, _thread.interrupt_main).start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            list(loader)
        assert time.monotonic() - begin < 5
