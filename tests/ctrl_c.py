"""The beginning of scripts that interrupt calls: press(0.3, 0.5) sends Ctrl-C twice, with these pauses before each, and
interrupted(call, 0.3, 0.5) returns how a call ends that is interrupted so."""

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
