module imagebatch

go 1.26.0

require (
	github.com/ebitengine/purego v0.11.3
	godlpack v0.0.0
)

replace godlpack => ../..
