module godlpack

go 1.26.0

require github.com/ebitengine/purego v0.11.3
