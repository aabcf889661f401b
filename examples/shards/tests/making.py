"""Shards of all formats, and servers of them."""

import contextlib
import gzip
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from PIL import Image


def packed(path: Path, data: bytes) -> Path:
    """Writes a file, compressed as its name says."""
    match path.suffix:
        case ".gz" | ".tgz":
            data = gzip.compress(data, 1)
        case ".zst":
            data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def tar(path: Path, samples: list[dict[str, bytes]], first: int = 0) -> Path:
    """A tar file of samples, in webdataset's layout."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for i, sample in enumerate(samples, first):
            for field, data in sample.items():
                info = tarfile.TarInfo(f"some/{i:06}.{field}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return packed(path, file.getvalue())


def lines(path: Path, rows: list[Any]) -> Path:
    return packed(path, b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def picture(seed: int, height: int = 40, width: int = 50) -> Image.Image:
    """A smooth picture: no decoder differs much from another for it."""
    y, x = np.mgrid[:height, :width]
    planes = [(np.sin(seed + x / (9 + c)) + np.cos(seed * c + y / 11)) * 60 + 128 for c in range(3)]
    return Image.fromarray(np.stack(planes, 2).astype(np.uint8))


def encoded(image: Image.Image, format: str = "jpeg") -> bytes:
    file = io.BytesIO()
    image.save(file, format, **({"quality": 95} if format == "jpeg" else {}))
    return file.getvalue()


class Server:
    """Files of a folder over HTTP: parts of them, too. What fails, and how often, can be set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[tuple[str, str | None]] = []
        self.cut_after = 0  # bytes of a body
        self.statuses: list[int] = []  # of the next answers
        self.parts = True
        self.version = "1"
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append((handler.path, handler.headers.get("Range")))
        path = self.folder / handler.path.lstrip("/")
        status = self.statuses.pop(0) if self.statuses else 200 if path.exists() else 404
        if status != 200:
            handler.send_response(status)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        data = path.read_bytes()
        begin = 0
        if self.parts and (wanted := handler.headers.get("Range")):
            begin = int(wanted.removeprefix("bytes=").rstrip("-"))
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        else:
            handler.send_response(200)
        handler.send_header("Content-Length", str(len(data) - begin))
        handler.send_header("ETag", f'"{self.version}"')
        handler.end_headers()
        body = data[begin:]
        if self.cut_after:
            body = body[: self.cut_after]
        with contextlib.suppress(ConnectionError):
            handler.wfile.write(body)


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()
