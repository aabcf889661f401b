module example.org/names

go 1.26.0
