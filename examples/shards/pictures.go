package shards

import (
	"context"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
)

// picturesPerShard is how many files of pictures are read by the same goroutine, and by the same worker.
const picturesPerShard = 64

func isPicture(name string) bool {
	return slices.Contains([]string{".jpg", ".jpeg", ".png"}, strings.ToLower(path.Ext(nameOfURL(name))))
}

// readPictures reads a file for each sample. Its fields are image, the file; path, its URL; and label, the name of its folder.
func readPictures(ctx context.Context, s shard, columns []column, from int64) iter.Seq2[sample, error] {
	return func(yield func(sample, error) bool) {
		for i := from; i < int64(len(s.objects)); i++ {
			one := sample{shard: &s, number: i, fields: make([]value, len(columns))}
			err := readPicture(ctx, s.objects[i], columns, one.fields)
			if err != nil {
				err = shard{name: s.objects[i].url}.failed(err)
			}
			if !yield(one, err) || err != nil {
				return
			}
		}
	}
}

func readPicture(ctx context.Context, o object, columns []column, fields []value) error {
	for i, c := range columns {
		switch c.name {
		case "image":
			f, err := o.open(ctx)
			if err != nil {
				return err
			}
			defer f.Close()
			if fields[i].bytes, err = io.ReadAll(f); err != nil {
				return err
			}
		case "path":
			fields[i].bytes = []byte(o.url)
		case "label":
			fields[i].bytes = []byte(path.Base(path.Dir(nameOfURL(o.url))))
		default:
			return fmt.Errorf("it has no field %s, only image, label, path", c.name)
		}
	}
	return nil
}
