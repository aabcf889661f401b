module example.org/classes

go 1.26.0
