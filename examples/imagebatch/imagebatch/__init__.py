from godlpack import load_module

load_module("_imagebatch", package=__name__)
