"""The loader: batches as dicts of arrays, where it is, and how it goes on there."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ._shards import Batch, Reader

Columns = dict[str, Any]


class Ragged(NamedTuple):
    """Lists of different lengths: list i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Any
    offsets: Any


class Loader:
    """Batches of samples, as dicts of columns.

    Parameters
    ----------
    urls : str or path, or an iterable of them
        Files, folders and patterns on disks, ``http://`` and ``https://``,
        ``s3://bucket/key``, and of S3 also prefixes that end with ``/``, and
        patterns; each with ranges, as ``train-{000..127}.tar``. The names
        say what they are: ``.tar``, ``.jsonl`` or ``.ndjson`` (each with
        ``.gz`` or ``.zst`` perhaps, or ``.tgz``), ``.parquet``, ``.jpg``,
        ``.jpeg`` or ``.png``.
    columns : dict of str to str
        What is wanted of each sample, and what it becomes:

        ``"int64"``, ``"float32"``, ``"float64"``
            An array of shape (n,).
        ``"float32[128]"``
            Lists of one length: an array of shape (n, 128).
        ``"int64[]"``
            Lists of any lengths: `Ragged`.
        ``"image[224,224]"``
            JPEG or PNG: a uint8 array of shape (n, 3, 224, 224).
        ``"str"``, ``"bytes"``
            A list.

        Of tar files they are the ends of files' names (``"jpg;png"`` takes
        either), of JSON and Parquet the names of fields (``"meta.label"``
        within others), and of pictures ``image``, ``label``, which is the
        name of the folder, and ``path``.
    batch : int, default 32
        Samples in a batch.
    shuffle : int, default 0
        The number of samples among which the order is random; then that of
        shards is random, too, and samples of `open` shards alternate.
        0: the order is that of the files.
    seed : int, default 0
        The same seed gives the same order, another in each epoch.
    rank, world : int, default 0 and 1
        The shards are dealt to ``world`` loaders, of which this is one.
    drop_last : bool, default False
        Leave out a last batch that is too short.
    open : int, default 4
        Shards that are read at a time.
    workers : int, default 0
        Batches that are decoded at a time. 0: one for each processor.
    like : default numpy
        The framework of the arrays, as ``torch.Tensor``.
    endpoint : str, default ""
        The URL of an S3-compatible store. Default: ``AWS_ENDPOINT_URL``,
        or Amazon's. Credentials are those of AWS's own tools.

    Raises
    ------
    ValueError
        Arguments that there cannot be; a sample that is damaged, or lacks a
        column, with its shard and number.
    OSError
        A file that cannot be read.

    Examples
    --------
    >>> loader = Loader("train-{000..127}.tar", {"jpg": "image[224,224]", "cls": "int64"}, shuffle=10_000)
    >>> for batch in loader:
    ...     train(batch["jpg"], batch["cls"])
    """

    def __init__(
        self,
        urls: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        columns: Mapping[str, str],
        *,
        batch: int = 32,
        shuffle: int = 0,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        drop_last: bool = False,
        open: int = 4,
        workers: int = 0,
        like: Any = np.ndarray,
        endpoint: str = "",
    ) -> None:
        self.urls = [os.fspath(url) for url in ([urls] if isinstance(urls, (str, os.PathLike)) else urls)]
        self.columns = dict(columns)
        self.options = {
            "batch": batch,
            "shuffle": shuffle,
            "seed": seed,
            "drop_last": drop_last,
            "open": open,
            "workers": workers,
            "endpoint": endpoint,
        }
        self.rank, self.world, self.like = rank, world, like
        self.epoch = 0
        self._state = self._resumed = ""  # behind the last batch; where the next loop begins
        self._reader()  # tells what is wrong now, and not at the first batch

    def _reader(self) -> Reader:
        """A reader of this process: one of the parent does not run in a forked child."""
        return Reader(self.urls, self.columns, part=self.rank, parts=self.world, **self.options)

    def __iter__(self) -> Iterator[Columns]:
        """Batches to the end of the epoch, from its beginning or, after `load_state_dict`, from there. Then comes the next epoch."""
        with self._reader().batches(*self._begin()) as batches:
            for batch in batches:
                columns = self._columns(batch)
                self._state = batch.state
                yield columns
        self.set_epoch(self.epoch + 1)

    async def __aiter__(self) -> AsyncIterator[Columns]:
        """The same for ``async for``: the event loop goes on while batches are read."""
        async with self._reader().stream(*self._begin()) as batches:
            async for batch in batches:
                columns = self._columns(batch)
                self._state = batch.state
                yield columns
        self.set_epoch(self.epoch + 1)

    def _begin(self) -> tuple[int, str]:
        """The epoch, and the state to go on from, which is that of one loop."""
        self._state, self._resumed = self._resumed, ""
        return self.epoch, self._state

    def _columns(self, batch: Batch) -> Columns:
        columns: Columns = {}
        kinds = batch.kinds()
        for name in self.columns:
            kind = kinds[name]
            if kind.endswith("[]"):
                values = getattr(batch, kind[:-2])(name, like=self.like)
                columns[name] = Ragged(values, batch.offsets(name, like=self.like))
            elif kind in ("str", "bytes"):
                columns[name] = getattr(batch, kind)(name)
            else:
                columns[name] = getattr(batch, kind)(name, like=self.like)
        return columns

    def set_epoch(self, epoch: int) -> None:
        """Begin with an epoch: each has an order of its own."""
        self.epoch, self._state, self._resumed = epoch, "", ""

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is, as what JSON can say: behind the batch that it gave last."""
        return {"epoch": self.epoch, "state": json.loads(self._state) if self._state else None}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next loop begin where `state_dict` was called. The urls and options must be the same: else it is a ValueError."""
        self.epoch = state["epoch"]
        self._state = self._resumed = json.dumps(state["state"]) if state["state"] else ""
