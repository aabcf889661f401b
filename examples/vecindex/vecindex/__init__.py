from godlpack import load_module

load_module(f"{__path__[0]}/_vecindex.so", package=__name__)
from ._vecindex import *  # noqa: E402, F403
