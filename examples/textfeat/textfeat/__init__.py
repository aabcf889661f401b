from godlpack import load_module

load_module("_textfeat", package=__name__)
