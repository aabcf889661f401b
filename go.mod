module godlpack

go 1.26.0
