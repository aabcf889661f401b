"""In processes of their own, which must end in time: Ctrl-C, and workers."""

import subprocess
import sys

import pytest

# The add is for minutes; what ends it is the signal.
INTERRUPTED = """
import os, signal, threading
import numpy as np
import vecindex

signal.signal(signal.SIGINT, signal.default_int_handler)  # Python sets none where it was started with SIGINT ignored
vectors = np.random.default_rng(0).standard_normal((200_000, 32), dtype="f4")
index = vecindex.Index(32)
index.add(vectors[:1000])
before = index.search(vectors[:100])
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    index.add(vectors[1000:])
except KeyboardInterrupt:
    print("interrupted")
assert len(index) == 1000 and 1000 not in index
for left, right in zip(before, index.search(vectors[:100])):
    assert (left == right).all()
index.add(vectors[1000:1100])
assert len(index) == 1100
"""

# A search that waits for another thread's add can be ended, too.
WAITING = """
import os, signal, threading, time
import numpy as np
import vecindex

signal.signal(signal.SIGINT, signal.default_int_handler)
vectors = np.random.default_rng(0).standard_normal((200_000, 32), dtype="f4")
index = vecindex.Index(32)
adding = threading.Thread(target=index.add, args=(vectors,), daemon=True)
adding.start()
time.sleep(0.5)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    index.search(vectors[:1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert adding.is_alive()
os._exit(0)
"""

# An index of the parent is not in a forked child, and goes there by pickle.
WORKERS = """
import multiprocessing, pickle, sys
import numpy as np
import vecindex

def work(x):
    return len(x if isinstance(x, vecindex.Index) else pickle.loads(x))

def inherited(_):
    try:
        return len(index)
    except RuntimeError as error:
        return "Index" in str(error)

index = vecindex.Index(4)
index.add(np.eye(4, dtype="f4"))
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(work, [index, pickle.dumps(index)]) == [4, 4]
        assert pool.map(inherited, [0]) == [4 if sys.argv[1] != "fork" else True]
    print("equal")
"""


def run(*arguments) -> str:
    command = [sys.executable, "-P", "-X", "faulthandler", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("program", [INTERRUPTED, WAITING], ids=["add", "search"])
def test_ctrl_c(program):
    assert run("-c", program) == "interrupted"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers(method, tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    assert run(script, method) == "equal"
