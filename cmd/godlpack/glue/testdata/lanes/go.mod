module example.org/lanes

go 1.26.0
