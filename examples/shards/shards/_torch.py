"""The loader as a dataset of torch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
import torch.utils.data

from ._loader import Columns, Loader


class TorchDataset(torch.utils.data.IterableDataset[Columns]):
    """`Loader`, as an iterable dataset whose batches are torch tensors.

    A DataLoader takes it as ``DataLoader(dataset, batch_size=None)``. It
    needs no workers: Go reads and decodes beside Python. With workers, each
    reads its own shards. So does each process of torch.distributed, unless
    `rank` and `world` are given.

    Parameters
    ----------
    urls, columns, **options
        Those of `Loader`, but for `like`.
    """

    def __init__(
        self,
        urls: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        columns: Mapping[str, str],
        **options: Any,
    ) -> None:
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        self.rank: int = options.pop("rank", torch.distributed.get_rank() if distributed else 0)
        self.world: int = options.pop("world", torch.distributed.get_world_size() if distributed else 1)
        self.loader = Loader(urls, columns, rank=self.rank, world=self.world, like=torch.Tensor, **options)

    def __iter__(self) -> Iterator[Columns]:
        worker = torch.utils.data.get_worker_info()
        workers, number = (worker.num_workers, worker.id) if worker else (1, 0)
        self.loader.rank, self.loader.world = self.rank * workers + number, self.world * workers
        return iter(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """Begin with an epoch: each has an order of its own."""
        self.loader.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the dataset is. In a worker of torchdata's StatefulDataLoader it is the worker's own."""
        return self.loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next loop begin where `state_dict` was called."""
        self.loader.load_state_dict(state)
