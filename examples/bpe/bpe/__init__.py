from godlpack import load_module

load_module(f"{__path__[0]}/_bpe.so", package=__name__)
from ._bpe import *  # noqa: E402, F403
