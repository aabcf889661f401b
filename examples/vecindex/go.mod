module vecindex

go 1.26.0

require godlpack v0.0.0

replace godlpack => ../..
