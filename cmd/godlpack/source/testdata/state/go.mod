module example.org/state

go 1.26.0
