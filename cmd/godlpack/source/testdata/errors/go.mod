module example.org/errors

go 1.26.0
