module godlpack/internal/embedtest

go 1.26.0

require (
	github.com/go-python/cpy3 v0.2.0
	godlpack v0.0.0
)

require github.com/ebitengine/purego v0.11.3 // indirect

replace godlpack => ../..
