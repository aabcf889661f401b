from godlpack import load_module

load_module(f"{__path__[0]}/_biasgelu.so", package=__name__)
from ._biasgelu import *  # noqa: E402, F403
