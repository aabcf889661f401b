from godlpack import load_module

load_module(f"{__path__[0]}/_textfeat.so", package=__name__)
from ._textfeat import *  # noqa: E402, F403
