module godlpack/cmd/godlpack

go 1.26.0

replace godlpack => ../..

require (
	github.com/go-python/gopy v0.4.10
	godlpack v0.0.0
	golang.org/x/tools v0.52.0
)

require (
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
