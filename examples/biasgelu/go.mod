module biasgelu

go 1.26.0

require godlpack v0.0.0

require github.com/ebitengine/purego v0.11.3 // indirect

replace godlpack => ../..
