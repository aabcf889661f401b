package shards

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"godlpack/kernel"
)

// find returns the shards of URLs, in their order: files, folders and patterns on disks, objects of HTTP servers, and objects
// and prefixes of S3-compatible stores. Each may have ranges: train-{000..127}.tar.
func find(ctx context.Context, urls []string, endpoint string) (all []shard, err error) {
	var stores stores
	stores.endpoint = endpoint
	var pictures []object
	for _, url := range urls {
		expanded, err := expand(url)
		if err != nil {
			return nil, err
		}
		for _, url := range expanded {
			objects, err := stores.list(ctx, url)
			if err != nil {
				return nil, err
			}
			for _, o := range objects {
				if isPicture(o.url) {
					pictures = append(pictures, o)
					continue
				}
				read, err := readerOf(o.url)
				if err != nil {
					return nil, err
				}
				all = append(all, shard{name: o.url, read: read, objects: []object{o}})
			}
		}
	}
	for group := range slices.Chunk(pictures, picturesPerShard) {
		all = append(all, shard{name: group[0].url, read: readPictures, objects: group})
	}
	if len(all) == 0 {
		return nil, kernel.Errorf(kernel.ValueError, "no files at %s", strings.Join(urls, ", "))
	}
	return all, nil
}

// mostExpanded is the limit of what one range, or several, may give.
const mostExpanded = 10_000_000

// expand replaces the ranges of a URL, {007..010}, by their numbers, with zeros as in the first one.
func expand(url string) ([]string, error) {
	open := strings.IndexByte(url, '{')
	if open < 0 {
		return []string{url}, nil
	}
	length := strings.IndexByte(url[open:], '}')
	first, last, isRange := strings.Cut(url[open+1:max(open+length, open+1)], "..")
	low, errLow := strconv.ParseUint(first, 10, 32)
	high, errHigh := strconv.ParseUint(last, 10, 32)
	if length < 0 || !isRange || errLow != nil || errHigh != nil || high < low {
		return nil, kernel.Errorf(kernel.ValueError, "%s: want a range such as {000..127}", url)
	}
	rest, err := expand(url[open+length+1:])
	if err != nil {
		return nil, err
	}
	if (high-low+1)*uint64(len(rest)) > mostExpanded {
		return nil, kernel.Errorf(kernel.ValueError, "%s: more than %d files", url, mostExpanded)
	}
	var all []string
	for n := low; n <= high; n++ {
		number := strconv.FormatUint(n, 10)
		number = strings.Repeat("0", max(0, len(first)-len(number))) + number
		for _, end := range rest {
			all = append(all, url[:open]+number+end)
		}
	}
	return all, nil
}

// listFiles returns the files at a path: of a folder all that are samples or shards, and all that match a pattern, sorted.
func listFiles(place string) (files []string, err error) {
	place = strings.TrimPrefix(place, "file://")
	if info, err := os.Stat(place); err == nil && !info.IsDir() {
		return []string{place}, nil
	} else if err == nil {
		err = filepath.WalkDir(place, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && known(file) {
				files = append(files, file)
			}
			return err
		})
		return files, err // in the order of names
	}
	if strings.ContainsAny(place, "*?[") {
		files, err = filepath.Glob(place)
		if err != nil {
			return nil, kernel.Errorf(kernel.ValueError, "%s: %w", place, err)
		}
		return slices.DeleteFunc(files, func(file string) bool {
			info, err := os.Stat(file)
			return err != nil || info.IsDir()
		}), nil
	}
	_, err = os.Stat(place)
	return nil, err
}

// matches reports whether the name of an object is in what a URL names: itself, what begins with it if it ends with a slash,
// or what matches its pattern. Of many only those are taken that are samples or shards.
func matches(pattern, key string) bool {
	switch {
	case pattern == key:
		return true
	case pattern == "" || strings.HasSuffix(pattern, "/"):
		return strings.HasPrefix(key, pattern) && known(key)
	}
	ok, err := path.Match(pattern, key)
	return err == nil && ok
}
