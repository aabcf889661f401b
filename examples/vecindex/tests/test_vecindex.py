"""An index finds what an exact search finds, and as much of it as usearch does."""

import pickle
import struct
import threading

import numpy as np
import pytest
import torch
import usearch.index

import godlpack
import vecindex

METRICS = ["l2", "ip", "cosine"]


def exact(vectors, queries, metric):
    """The distances of all vectors from each query, in float64."""
    vectors, queries = vectors.astype("f8"), queries.astype("f8")
    if metric == "l2":
        return (vectors**2).sum(1) - 2 * queries @ vectors.T + (queries**2).sum(1)[:, None]
    if metric == "cosine":
        vectors, queries = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (vectors, queries))
    return 1 - queries @ vectors.T


def recall(ids, distances):
    """How many of the k nearest were found."""
    k = ids.shape[1]
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.mean(
        [len(set(found) & set(want)) / k for found, want in zip(ids.tolist(), nearest.tolist(), strict=True)]
    )


def gaussian(n, dim, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim), dtype="f4")


def clustered(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * gaussian(20, dim)[rng.integers(0, 20, n)] + gaussian(n, dim, seed + 1)


@pytest.fixture(scope="module")
def index():
    filled = vecindex.Index(16)
    filled.add(gaussian(2000, 16))
    return filled


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dim", [1, 2, 7, 8, 33])
@pytest.mark.parametrize("data", [gaussian, clustered])
def test_it_finds_what_an_exact_search_finds(metric, dim, data):
    vectors, queries = data(1500, dim), data(40, dim, seed=5)
    index = vecindex.Index(dim, metric, m=24)
    index.add(vectors)
    ids, distances = index.search(queries, 10, ef=300)
    assert ids.dtype == np.int64 and distances.dtype == np.float32 and ids.shape == distances.shape == (40, 10)
    want = exact(vectors, queries, metric)
    found = np.take_along_axis(want, ids, 1)
    np.testing.assert_allclose(distances, found, rtol=1e-4, atol=1e-4 * max(1, np.abs(want).max() / 100))
    assert (np.diff(distances, axis=1) >= 0).all()
    best = np.sort(want, axis=1)[:, :10]  # by distance, since some are equally far
    assert np.mean(found <= best[:, -1:] + 1e-5) >= (0.9 if metric == "ip" else 0.98)


@pytest.mark.parametrize("data", [gaussian, clustered])
@pytest.mark.parametrize("metric", METRICS)
def test_it_finds_as_much_as_usearch(metric, data):
    both = data(5500, 24)
    vectors, queries = both[:5000], both[5000:]
    ours = vecindex.Index(24, metric, m=8, ef_construction=60)
    ours.add(vectors)
    theirs = usearch.index.Index(
        ndim=24,
        metric={"l2": "l2sq", "cosine": "cos"}.get(metric, metric),
        dtype="f32",
        connectivity=8,
        expansion_add=60,
    )
    theirs.add(np.arange(len(vectors)), vectors)
    want = exact(vectors, queries, metric)
    assert theirs.expansion_search == 64
    least = recall(theirs.search(queries, 10).keys.astype("i8"), want)
    assert recall(ours.search(queries, 10, ef=64)[0], want) >= least - 0.02


@pytest.mark.parametrize("n", [1, 2, 3, 17])
def test_few_vectors_are_all_found(n):
    vectors = gaussian(n, 4)
    index = vecindex.Index(4, m=2, ef_construction=1)
    index.add(vectors)
    ids, distances = index.search(vectors, n + 3, ef=1)
    assert (np.sort(ids[:, :n]) == np.arange(n)).all() and (ids[:, 0] == np.arange(n)).all()
    assert (ids[:, n:] == -1).all() and np.isposinf(distances[:, n:]).all()


def test_an_empty_index():
    index = vecindex.Index(3)
    assert len(index) == 0 and not index
    ids, distances = index.search(np.zeros((2, 3), "f4"), 4)
    assert (ids == -1).all() and np.isposinf(distances).all() and ids.shape == (2, 4)
    index.add(np.zeros((0, 3), "f4"))
    assert len(index) == 0 and index.search(np.zeros((0, 3), "f4"), 4)[0].shape == (0, 4)


def test_equal_vectors():
    index = vecindex.Index(4)
    index.add(np.ones((1000, 4), "f4"))
    ids, distances = index.search(np.ones((1, 4), "f4"), 1000)
    assert len(set(ids[0].tolist())) > 10 and distances[0, 0] == 0  # all are as good


def test_layouts_and_dtypes(index):
    queries = gaussian(12, 16, seed=3)
    want, distances = index.search(queries, 5)
    for same in (
        np.asfortranarray(queries),
        np.repeat(np.repeat(queries, 2, 0), 3, 1)[::2, ::3],
        np.ascontiguousarray(queries[::-1, ::-1])[::-1, ::-1],
        np.ascontiguousarray(queries.T).T,
        queries.astype("f8"),
        torch.tensor(queries).T.contiguous().T,
        np.frombuffer(b"0" + queries.tobytes(), "u1")[1:].view("f4").reshape(12, 16),
    ):
        ids, d = index.search(same, 5)
        assert isinstance(ids, type(same))
        np.testing.assert_array_equal(ids, want)
        np.testing.assert_array_equal(d, distances)
    half = np.round(queries * 4).astype("i4")
    np.testing.assert_array_equal(index.search(half, 5)[0], index.search(half.astype("f4"), 5)[0])


def test_vectors_are_copied():
    vectors = gaussian(50, 4)
    index = vecindex.Index(4)
    index.add(vectors.T[:, :].T)
    queries = vectors.copy()
    vectors[:] = 0
    np.testing.assert_array_equal(index.search(queries, 1)[0][:, 0], np.arange(50))


def test_ids():
    index = vecindex.Index(2)
    index.add(np.eye(2, dtype="f4"), np.array([70, 5]))
    index.add(np.array([[9, 9]], "f4"))
    index.add(-np.eye(2, dtype="f4"), np.arange(4)[::-1][:4:2])
    ids, _ = index.search(np.array([[1, 0], [8, 8], [-1, 0]], "f4"), 1)
    assert ids[:, 0].tolist() == [70, 71, 3]
    assert 70 in index and 5 in index and 1 in index and 2 not in index and -1 not in index


@pytest.mark.parametrize("again", [[5, 8], [8, 8]])
def test_duplicate_ids(again):
    index = vecindex.Index(2)
    index.add(np.eye(2, dtype="f4"), np.array([5, 6]))
    with pytest.raises(vecindex.DuplicateIDError, match="want an id that no other vector has") as caught:
        index.add(np.eye(2, dtype="f4"), np.array(again))
    assert caught.value.id in (5, 8) and isinstance(caught.value, ValueError)
    assert len(index) == 2 and 8 not in index


def test_bad_arguments(index):
    x = np.zeros((2, 16), "f4")
    with pytest.raises(vecindex.DimensionError, match="want vectors of 16 elements, got 15") as caught:
        index.search(x[:, 1:])
    assert (caught.value.want, caught.value.got) == (16, 15)
    with pytest.raises(vecindex.DimensionError):
        index.add(x.T)
    with pytest.raises(TypeError, match=r"want float32\[q, d\].*got float32\[16\]"):
        index.search(x[0])
    with pytest.raises(ValueError, match="ids: want one for each of 2 vectors, got 3"):
        index.add(x, np.arange(3))
    with pytest.raises(ValueError, match=r"ids: want 0 to .*got -7"):
        index.add(x, np.array([3000, -7]))
    with pytest.raises(TypeError, match="int64"):
        index.add(x, np.array([0.5, 1.5]))
    for k, ef in ((0, 1), (1, 0), (-1, 5), (2**40, 5)):
        with pytest.raises(ValueError, match="want k and ef from 1"):
            index.search(x, k, ef=ef)
    assert len(index) == 2000


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e17, -1e300])
@pytest.mark.parametrize("metric", METRICS)
def test_elements_without_distances(value, metric):
    index = vecindex.Index(3, metric)
    index.add(np.eye(3, dtype="f4"))
    bad = np.ones((5, 3))
    bad[3, 2] = bad[4, 0] = value
    for call in (index.add, index.search):
        with pytest.raises(vecindex.ElementError, match=r"row 3, column 2: want -1e\+16 to 1e\+16, got") as caught:
            call(bad)
        assert (caught.value.row, caught.value.column) == (3, 2)
    assert len(index) == 3


def test_the_largest_elements_and_zeros():
    for metric in METRICS:
        index = vecindex.Index(2, metric)
        index.add(np.array([[1e16, -1e16], [-1e16, 1e16], [0, 0]], "f4"))
        ids, distances = index.search(np.array([[1e16, -1e16], [0, 0]], "f4"), 3)
        assert np.isfinite(distances).all() and sorted(ids[0].tolist()) == [0, 1, 2]
    assert distances[1].tolist() == [1, 1, 1]  # a cosine with zeros


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"dim": 0}, "dim: want 1 to 65536, got 0"),
        ({"metric": "l1"}, 'metric: want "l2", "ip" or "cosine", got "l1"'),
        ({"m": 1}, "m: want 2 to 1024, got 1"),
        ({"ef_construction": 0}, "ef_construction: want 1 to 1048576, got 0"),
    ],
)
def test_bad_options(options, why):
    with pytest.raises(ValueError, match=rf"^Index\(\): {why}"):
        vecindex.Index(**{"dim": 3, **options})


def test_attributes(index):
    assert (index.dim, index.metric, index.m, index.ef_construction, index.seed) == (16, "l2", 16, 200, 0)
    assert repr(index) == '<Index: 2000 vectors, dim=16, metric="l2", m=16>'
    with pytest.raises(AttributeError):
        index.dim = 3


def test_save_load_and_pickle(index, tmp_path):
    path = str(tmp_path / "index")
    index.save(path)
    index.save(path)  # over what is there
    assert [file.name for file in tmp_path.iterdir()] == ["index"]
    queries = gaussian(30, 16, seed=9)
    for copy in (vecindex.Index.load(path), pickle.loads(pickle.dumps(index))):
        for ours, theirs in zip(index.search(queries), copy.search(queries), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        copy.add(queries)
        assert len(copy) == 2030 and len(index) == 2000
        assert (copy.search(queries, 1)[0][:, 0] == 2000 + np.arange(30)).all()


def test_files_that_cannot_be_read(index, tmp_path):
    path = tmp_path / "index"
    with pytest.raises(FileNotFoundError) as missing:
        vecindex.Index.load(str(path))
    assert missing.value.filename == str(path)
    with pytest.raises(FileNotFoundError) as missing:
        index.save(str(tmp_path / "no" / "index"))
    assert missing.value.filename == str(tmp_path / "no" / "index")
    index.save(str(path))
    data = path.read_bytes()
    sizes = [0, 1, 7, 8, 40, len(data) // 2, len(data) - 1]
    huge = struct.pack("<8sI8sIIIqqQII", b"vecindex", 1, b"l2", 65536, 1024, 1, 0, 0, 2**31, 0, 0)
    damaged = data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]
    later = data[:8] + b"\2" + data[9:]
    for bad in (*(data[:size] for size in sizes), data + b"0", huge + b"0000", damaged, later, b"PK" + data):
        path.write_bytes(bad)
        with pytest.raises(vecindex.FormatError, match="not a whole index: ") as caught:
            vecindex.Index.load(str(path))
        assert str(path) in str(caught.value)


def test_a_pickle_that_was_changed(index):
    data = pickle.dumps(index)
    at = data.index(b"vecindex\1") + 20_000
    with pytest.raises(vecindex.FormatError, match="checksum"):
        pickle.loads(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])


def test_threads_at_a_time():
    """Searches see the index as it is before an add, or after it."""
    index, parts = vecindex.Index(8, m=4, ef_construction=20), np.split(gaussian(3000, 8), 30)
    failed, done = [], threading.Event()

    def search():
        while not done.is_set():
            ids, _ = index.search(parts[0][:4], 3)
            found = len(index)
            if (ids >= found).any() or found % 50:
                failed.append(ids)

    def add(mine):
        for part in mine:
            index.add(part[:50])
            index.add(part[50:])

    searching = [threading.Thread(target=search) for _ in range(2)]
    adding = [threading.Thread(target=add, args=(parts[i::3],)) for i in range(3)]
    for thread in searching + adding:
        thread.start()
    for thread in adding:
        thread.join()
    done.set()
    for thread in searching:
        thread.join()
    assert not failed and len(index) == 3000
    _, distances = index.search(np.concatenate(parts), 1, ef=100)
    assert np.mean(distances == 0) > 0.99


def test_one_thread_builds_the_same():
    before = godlpack.get_num_threads()
    godlpack.set_num_threads(1)
    try:
        one, same, other = (vecindex.Index(8, seed=seed) for seed in (1, 1, 2))
        for index in (one, same, other):
            index.add(gaussian(500, 8))
        assert pickle.dumps(one) == pickle.dumps(same) != pickle.dumps(other)
    finally:
        godlpack.set_num_threads(before)
