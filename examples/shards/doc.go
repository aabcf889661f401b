// Package shards reads samples from tar files, JSON lines, Parquet files and folders of pictures, on disks, HTTP servers and
// S3-compatible stores, and makes batches of them: columns of numbers, texts, bytes and pictures.
//
// A sample passes these steps, each in goroutines of its own, with a bounded number of samples between them:
//
//	stream.go   reads shards, several at a time     tar.go, lines.go, parquet.go, pictures.go: their formats
//	order.go    puts the samples in order, and remembers where it is
//	batch.go    decodes a batch into columns        column.go: one of them
//
// reader.go has what Python sees. Errors name the shard and the sample.
package shards
