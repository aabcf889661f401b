from godlpack import load_module

load_module(f"{__path__[0]}/_jsonnet.so", package=__name__)
from ._jsonnet import *  # noqa: E402, F403
