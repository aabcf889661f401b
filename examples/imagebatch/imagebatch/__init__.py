from godlpack import load_module

load_module(f"{__path__[0]}/_imagebatch.so", package=__name__)
from ._imagebatch import *  # noqa: E402, F403
