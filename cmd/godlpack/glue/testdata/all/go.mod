module example.org/all

go 1.26.0
