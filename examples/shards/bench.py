"""Samples per second, and per second of all processors, beside other loaders: python -P bench.py [--samples 4000] [--rounds 3]

Each loader makes the same batches of torch tensors of the same files, in a process of its own. Its first pass is checked: the
same samples, the same numbers, and pictures that differ from Pillow's by less than 2 of 255. The second one is measured, with
the time of its worker processes. All take turns in each round; what counts is each one's best round.
"""

import argparse
import gzip
import importlib.util
import io
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

sys.path.insert(0, str(Path(__file__).with_name("tests")))
from making import encoded, picture

import shards

BATCH, TOKENS, SIDE, FILES, WORKERS = 64, 64, 224, 8, 2
Batch = dict[str, Any]
Files = list[str]

# ---- files ----


def sample(i: int) -> Batch:
    draw = random.Random(i)
    text = " ".join(draw.choice(["lorem", "ipsum", "dolor", "sit", "amet", "é"]) for _ in range(40))
    return {"label": i, "x": draw.random(), "tokens": [draw.randrange(50_000) for _ in range(TOKENS)], "text": text}


def write(folder: Path, task: str, n: int) -> None:
    """Writes the n samples of a task to 8 files."""
    for k in range(FILES):
        rows = [sample(i) for i in range(k * n // FILES, (k + 1) * n // FILES)]
        if task == "JSON lines":
            text = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
            (folder / f"{k}.jsonl.gz").write_bytes(gzip.compress(text, 6))
        elif task == "Parquet":
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{k}.parquet")
        else:
            write_tar(folder / f"{k}.tar", task, rows)


def write_tar(path: Path, task: str, rows: list[Batch]) -> None:
    photographs = [encoded(picture(seed, 375, 500)) for seed in range(8)] if task == "JPEG" else []
    with tarfile.open(path, "w") as archive:
        for row in rows:
            fields = {"cls": str(row["label"]), "tokens.json": json.dumps(row["tokens"]), "txt": row["text"]}
            members: dict[str, bytes] = {name: text.encode() for name, text in fields.items()}
            if photographs:
                members = {"cls": members["cls"], "jpg": photographs[row["label"] % 8]}
            for name, data in members.items():
                info = tarfile.TarInfo(f"{row['label']:06}.{name}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


# ---- what loaders have in common, in Python ----


def resized(image: Image.Image) -> torch.Tensor:
    scaled = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return torch.from_numpy(np.asarray(scaled).transpose(2, 0, 1).copy())


def opened(data: bytes) -> torch.Tensor:
    return resized(Image.open(io.BytesIO(data)))


def collated(rows: list[Batch]) -> Batch:
    batch: Batch = {"label": torch.tensor([row["label"] for row in rows])}
    if "image" in rows[0]:
        return {**batch, "image": torch.stack([row["image"] for row in rows])}
    batch["tokens"] = torch.tensor([row["tokens"] for row in rows])
    batch["text"] = [row["text"] for row in rows]
    if "x" in rows[0]:
        batch["x"] = torch.tensor([row["x"] for row in rows], dtype=torch.float32)
    return batch


def of_tar(path: str) -> Iterator[Batch]:
    """The samples of a tar file, by tarfile; pictures stay files."""
    with tarfile.open(path, "r|") as archive:
        row: Batch = {}
        for member in archive:
            key, _, field = member.name.partition(".")
            if row.get("key", key) != key:
                yield row
                row = {}
            data = archive.extractfile(member).read()
            row["key"] = key
            if field == "cls":
                row["label"] = int(data)
            elif field == "jpg":
                row["image"] = data
            elif field == "txt":
                row["text"] = data.decode()
            else:
                row["tokens"] = json.loads(data)
        yield row


def of_lines(path: str) -> Iterator[Batch]:
    with gzip.open(path) as file:
        yield from map(json.loads, file)


def rows_of(task: str, files: Iterable[str]) -> Iterator[Batch]:
    for path in files:
        yield from of_lines(path) if task == "JSON lines" else of_tar(path)


def decoded(row: Batch) -> Batch:
    return {**row, "image": opened(row["image"])} if "image" in row else row


# ---- loaders ----


def by_shards(task: str, files: Files) -> Iterable[Batch]:
    names = {
        "JSON lines": {"label": "int64", "x": "float32", "tokens": f"int64[{TOKENS}]", "text": "str"},
        "Parquet": {"label": "int64", "x": "float32", "tokens": f"int64[{TOKENS}]", "text": "str"},
        "tar": {"cls": "int64", "tokens.json": f"int64[{TOKENS}]", "txt": "str"},
        "JPEG": {"cls": "int64", "jpg": f"image[{SIDE},{SIDE}]"},
    }[task]
    called = {"cls": "label", "tokens.json": "tokens", "txt": "text", "jpg": "image"}
    for batch in shards.Loader(files, names, batch=BATCH, like=torch.Tensor):
        yield {called.get(name, name): column for name, column in batch.items()}


def by_webdataset(task: str, files: Files) -> Iterable[Batch]:
    import webdataset as wds

    def chosen(row: Batch) -> Batch:
        if task == "JPEG":
            return {"label": row["cls"], "image": resized(row["jpg"])}
        return {"label": row["cls"], "tokens": row["tokens.json"], "text": row["txt"]}

    dataset = wds.WebDataset(files, shardshuffle=False)
    dataset = dataset.decode("pil").map(chosen).batched(BATCH, collation_fn=collated)
    return wds.WebLoader(dataset, batch_size=None, num_workers=WORKERS)


class Rows(IterableDataset[Batch]):
    def __init__(self, task: str, files: Files) -> None:
        self.task, self.files = task, files

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        return map(decoded, rows_of(self.task, self.files[worker.id :: worker.num_workers]))


def by_data_loader(task: str, files: Files) -> Iterable[Batch]:
    return DataLoader(Rows(task, files), BATCH, num_workers=WORKERS, collate_fn=collated)


def by_torchdata(task: str, files: Files) -> Iterable[Batch]:
    from torchdata import nodes

    node: Any = nodes.IterableWrapper(rows_of(task, files))
    if task == "JPEG":
        node = nodes.ParallelMapper(node, decoded, num_workers=WORKERS, method="thread")
    node = nodes.Mapper(nodes.Batcher(node, BATCH, drop_last=False), collated)
    return nodes.Loader(nodes.Prefetcher(node, 2))


def by_datasets(task: str, files: Files) -> Iterable[Batch]:
    import datasets

    datasets.disable_progress_bars()
    kind = {"JSON lines": "json", "Parquet": "parquet"}.get(task, "webdataset")
    rows = datasets.load_dataset(kind, data_files=files, split="train", streaming=True)
    if kind == "webdataset":
        for batch in rows.iter(BATCH):
            if task == "JPEG":
                yield {"label": torch.tensor(batch["cls"]), "image": torch.stack([resized(i) for i in batch["jpg"]])}
            else:
                tokens = [json.loads(t) if isinstance(t, (str, bytes)) else t for t in batch["tokens.json"]]
                yield {"label": torch.tensor(batch["cls"]), "tokens": torch.tensor(tokens), "text": batch["txt"]}
        return
    for table in rows.with_format("arrow").iter(BATCH):
        yield of_arrow(table)


def of_arrow(table: pa.Table) -> Batch:
    """The fastest way from Arrow to torch: by its memory."""
    tokens = table["tokens"].combine_chunks().flatten().to_numpy()
    return {
        "label": torch.from_numpy(table["label"].to_numpy().copy()),
        "x": torch.from_numpy(table["x"].to_numpy().astype(np.float32)),
        "tokens": torch.from_numpy(tokens.reshape(-1, TOKENS).copy()),
        "text": table["text"].to_pylist(),
    }


def by_pyarrow(task: str, files: Files) -> Iterable[Batch]:
    for path in files:
        for batch in pq.ParquetFile(path).iter_batches(BATCH):
            yield of_arrow(pa.Table.from_batches([batch]))


def by_spdl(task: str, files: Files) -> Iterable[Batch]:
    import spdl.io
    import spdl.pipeline

    def picture_of(row: Batch) -> Batch:
        buffer = spdl.io.load_image(row["image"], filter_desc=FILTER)
        return {**row, "image": spdl.io.to_torch(buffer).permute(2, 0, 1).contiguous()}

    builder = spdl.pipeline.PipelineBuilder().add_source(rows_of(task, files))
    if task == "JPEG":
        builder = builder.pipe(picture_of, concurrency=WORKERS, output_order="input")
    builder = builder.aggregate(BATCH).pipe(collated).add_sink(3)
    with (pipeline := builder.build(num_threads=WORKERS + 1)).auto_stop():
        yield from pipeline


ACCURATE = "bilinear+accurate_rnd+full_chroma_int+full_chroma_inp"  # without, pictures differ from Pillow's by 4 of 255
FILTER = f"scale=width={SIDE}:height={SIDE}:flags={ACCURATE},format=pix_fmts=rgb24"

LOADERS: dict[str, tuple[str, Callable[[str, Files], Iterable[Batch]], list[str]]] = {
    "shards": ("shards", by_shards, ["JSON lines", "tar", "JPEG", "Parquet"]),
    "webdataset, 2 workers": ("webdataset", by_webdataset, ["tar", "JPEG"]),
    "DataLoader, 2 workers": ("torch", by_data_loader, ["JSON lines", "tar", "JPEG"]),
    "torchdata.nodes": ("torchdata", by_torchdata, ["JSON lines", "tar", "JPEG"]),
    "datasets, streaming": ("datasets", by_datasets, ["JSON lines", "tar", "JPEG", "Parquet"]),
    "SPDL": ("spdl", by_spdl, ["JSON lines", "tar", "JPEG"]),
    "pyarrow": ("pyarrow", by_pyarrow, ["Parquet"]),
}

# ---- measurements ----


@cache
def by_pillow(seed: int) -> torch.Tensor:
    return opened(encoded(picture(seed, 375, 500)))


def check(task: str, n: int, batches: Iterable[Batch]) -> None:
    """Compares a pass with what was written."""
    seen = []
    for batch in batches:
        for i, label in enumerate(batch["label"].tolist()):
            seen.append(label)
            row = sample(label)
            if task == "JPEG":
                theirs = by_pillow(label % 8)
                assert (batch["image"][i].int() - theirs.int()).abs().float().mean() < 2, label
            else:
                assert batch["tokens"][i].tolist() == row["tokens"] and batch["text"][i] == row["text"], label
                assert "x" not in batch or batch["x"][i].item() == np.float32(row["x"]), label
    assert sorted(seen) == list(range(n)), len(seen)


def processors() -> float:
    """Seconds of all processors that this process and its children have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measure(loader: str, task: str, n: int, folder: str) -> None:
    """Prints the seconds of a pass, on the clock and of processors."""
    torch.set_num_threads(1)
    load, files = LOADERS[loader][1], sorted(str(path) for path in Path(folder).iterdir())
    check(task, n, load(task, files))
    begin, clock, count = processors(), time.perf_counter(), 0
    for batch in load(task, files):
        count += len(batch["label"])
    del batch
    assert count == n
    print(json.dumps([time.perf_counter() - clock, processors() - begin]))


def report(task: str, n: int, rounds: int) -> None:
    chosen = [
        name for name, (module, _, tasks) in LOADERS.items() if task in tasks and importlib.util.find_spec(module)
    ]
    best = dict.fromkeys(chosen, (float("inf"), float("inf")))
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), task, n)
        for _ in range(rounds):
            for name in chosen:
                command = [sys.executable, "-P", __file__, "--measure", name, task, str(n), folder]
                environment = os.environ | {"PYTHONWARNINGS": "ignore"}
                done = subprocess.run(command, capture_output=True, text=True, env=environment)
                if done.returncode:
                    sys.exit(f"{name}: {done.stderr}")
                best[name] = tuple(map(min, best[name], json.loads(done.stdout.splitlines()[-1])))
    ours = best["shards"]
    for name, (clock, used) in best.items():
        ratios = clock / ours[0], used / ours[1]
        print(f"| {task} | {name} | {n / clock:,.0f} | {ratios[0]:.2f} | {n / used:,.0f} | {ratios[1]:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", default=["JSON lines", "tar", "JPEG", "Parquet"])
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        loader, task, n, folder = options.measure
        measure(loader, task, int(n), folder)
        return
    others = [
        name for name in ("webdataset", "torchdata", "datasets", "spdl", "pyarrow") if importlib.util.find_spec(name)
    ]
    print(
        f"{len(os.sched_getaffinity(0))} processors, {platform.machine()}; Python {platform.python_version()}, torch "
        f"{torch.__version__}, {', '.join(f'{name} {version(name)}' for name in others)}; JPEG by {shards.jpeg_decoder()}"
    )
    print("\n| files | loader | samples/s | time / ours | samples per second of processors | the same / ours |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for task in options.tasks:
        report(task, options.samples // (20 if task == "JPEG" else 1), options.rounds)


if __name__ == "__main__":
    main()
