"""Beginnings of scripts that tests run in new interpreters."""

# press(0.3, 0.5) sends Ctrl-C twice, with these pauses before each; interrupted(call, 0.3, 0.5) returns how a call ends
# that is interrupted so.
PRESSED = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background

def press(*pauses):
    def send():
        for pause in pauses:
            time.sleep(pause)
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()

def interrupted(call, *pauses):
    press(*pauses)
    try:
        call()
    except KeyboardInterrupt as error:
        return str(error)
    return "returned"
"""

# fork(inside) runs inside() in a forked child, and fails if the child hangs or fails. threads() is the number of
# threads, and owed() how many storages, exports and imports have not been released.
FORK = """
import warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of forking where there are threads
import os, signal, sys, traceback
import godlpack as gd
from godlpack import _core

def threads():
    return len(os.listdir("/proc/self/task"))

def owed():
    s = _core._counters()
    return (s["storages_made"] - s["storages_freed"], s["exports_made"] - s["exports_deleted"],
            s["imports_taken"] - s["imports_deleted"])

def fork(inside, *arguments, limit=30):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(limit)  # a child that hangs is ended, which is a failure too
        try:
            inside(*arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"a child ended with status {status}"
"""

# actions() returns the handler of each signal, and changed(before) the names of those that are no longer as they were.
ACTIONS = """
import ctypes, os, signal

def actions():
    # glibc's struct sigaction: handler, mask (8 of 128 bytes are used), flags, of which it sets SA_RESTORER itself; it
    # keeps 32 and 33 for itself
    found = {}
    for number in range(1, signal.NSIG):
        action = ctypes.create_string_buffer(256)
        if ctypes.CDLL(None).sigaction(number, None, action) == 0:
            flags = int.from_bytes(action.raw[136:140], "little") & ~0x04000000
            found[number] = action.raw[:16], flags
    return found

def changed(before):
    after = actions()
    return {signal.Signals(number).name for number in before if before[number] != after[number]}
"""


def program(tmp_path, text):
    """A script that workers started by 'spawn' can import."""
    file = tmp_path / "program.py"
    file.write_text(text)
    return (
        f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); runpy.run_path({str(file)!r}, run_name='__main__')"
    )
