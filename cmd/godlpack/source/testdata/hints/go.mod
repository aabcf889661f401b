module example.org/hints

go 1.26.0
