package shards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"godlpack/kernel"
)

// An object is a file somewhere.
type object struct {
	url string
	// get opens it from an offset on, in the version that tag stands for; none: in any, whose tag it returns.
	get func(ctx context.Context, offset int64, tag string) (body io.ReadCloser, version string, err error)
}

// nameOfURL returns the path of a URL.
func nameOfURL(place string) string {
	if scheme, rest, ok := strings.Cut(place, "://"); ok {
		if parsed, err := url.Parse(place); err == nil && strings.HasPrefix(scheme, "http") {
			return parsed.Path
		}
		return rest
	}
	return place
}

// open reads an object, again from where it was if the connection fails.
func (o object) open(ctx context.Context) (io.ReadCloser, error) {
	if o.get == nil {
		return os.Open(o.url)
	}
	r := &download{ctx: ctx, object: o}
	return r, r.connect()
}

// local returns the object as a file on a disk: itself, or a copy that is gone when it is closed.
func (o object) local(ctx context.Context) (*os.File, error) {
	if o.get == nil {
		return os.Open(o.url)
	}
	from, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := os.CreateTemp("", "shards-*"+path.Ext(nameOfURL(o.url)))
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Remove(to.Name()), func() error { _, err := io.Copy(to, from); return err }())
	if err != nil {
		to.Close()
		return nil, err
	}
	return to, nil
}

// mostTries is how often a part of an object is asked for.
const mostTries = 5

// A download reads an object over a network. After a failure it goes on where it was; if the object has changed meanwhile, that is
// an error.
type download struct {
	ctx    context.Context
	object object
	body   io.ReadCloser
	tag    string
	offset int64
	tries  int // since it last read something
}

var errChanged = errors.New("it has changed while it was read")

// A temporary error is one that another try may not have.
type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

// connect opens the object at the offset.
func (d *download) connect() error {
	for {
		body, tag, err := d.object.get(d.ctx, d.offset, d.tag)
		if err == nil {
			d.body, d.tag = body, tag
			return nil
		}
		if !errors.As(err, new(temporary)) || !d.again() {
			return d.failed(err)
		}
	}
}

// again waits before another try, longer each time; false: there is none.
func (d *download) again() bool {
	if d.tries++; d.tries >= mostTries {
		return false
	}
	select {
	case <-time.After(50 * time.Millisecond << (2 * (d.tries - 1))):
		return true
	case <-d.ctx.Done():
		return false
	}
}

func (d *download) Read(to []byte) (n int, err error) {
	for {
		n, err = d.body.Read(to)
		d.offset += int64(n)
		if n > 0 {
			d.tries = 0
		}
		if err == nil || err == io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil // the error comes again
		}
		if !d.again() {
			return 0, d.failed(err)
		}
		d.body.Close()
		if err := d.connect(); err != nil {
			return 0, err
		}
	}
}

// failed returns an OSError that names the object; if the download is no longer wanted, the reason.
func (d *download) failed(err error) error {
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	if d.offset > 0 {
		err = fmt.Errorf("at byte %d: %w", d.offset, err)
	}
	return &fs.PathError{Op: "GET", Path: d.object.url, Err: err}
}

func (d *download) Close() error { return d.body.Close() }

// stores are the servers of a Reader.
type stores struct {
	endpoint string // of S3
	s3       *minio.Core
}

// list returns the objects that a URL names.
func (s *stores) list(ctx context.Context, place string) (objects []object, err error) {
	scheme, rest, ok := strings.Cut(place, "://")
	switch {
	case !ok || scheme == "file":
		files, err := listFiles(place)
		for _, file := range files {
			objects = append(objects, object{url: file})
		}
		return objects, err
	case scheme == "http" || scheme == "https":
		return []object{{url: place, get: func(ctx context.Context, offset int64, tag string) (io.ReadCloser, string, error) {
			return getHTTP(ctx, place, offset, tag)
		}}}, nil
	case scheme == "s3":
		bucket, key, _ := strings.Cut(rest, "/")
		return s.listS3(ctx, bucket, key)
	}
	return nil, kernel.Errorf(kernel.ValueError, "%s: want a path, or a URL that begins with http://, https:// or s3://", place)
}

// client keeps connections. Bodies come as they are stored: what is compressed is decompressed by the name of the file.
var client = sync.OnceValue(func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	transport.MaxIdleConnsPerHost = 64
	return &http.Client{Transport: transport}
})

// getHTTP asks for a part of a file.
func getHTTP(ctx context.Context, place string, offset int64, tag string) (io.ReadCloser, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, "", err
	}
	if offset > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	if strings.HasPrefix(tag, `"`) {
		request.Header.Set("If-Match", tag)
	}
	response, err := client().Do(request)
	if err != nil {
		return nil, "", temporary{err}
	}
	found := versionOf(response.Header)
	code := response.StatusCode
	sent := code == http.StatusOK || code == http.StatusPartialContent
	switch {
	case sent && tag != "" && found != tag, code == http.StatusPreconditionFailed:
		err = errChanged
	case code == http.StatusOK && offset == 0, code == http.StatusPartialContent && beginsAt(response.Header, offset):
		return response.Body, found, nil
	case sent:
		err = errors.New("the connection failed, and the server does not send parts of files")
	case code == http.StatusNotFound:
		err = fs.ErrNotExist
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		err = temporary{errors.New(response.Status)}
	default:
		err = errors.New(response.Status)
	}
	response.Body.Close()
	return nil, "", err
}

// versionOf returns what tells versions of a file apart.
func versionOf(header http.Header) string {
	if tag := header.Get("ETag"); tag != "" {
		return tag
	}
	return header.Get("Last-Modified")
}

func beginsAt(header http.Header, offset int64) bool {
	return strings.HasPrefix(header.Get("Content-Range"), "bytes "+strconv.FormatInt(offset, 10)+"-")
}

// listS3 returns the objects of a bucket that a key names: one, those under a prefix that ends with a slash, or of a pattern.
func (s *stores) listS3(ctx context.Context, bucket, key string) (objects []object, err error) {
	if s.s3 == nil {
		if s.s3, err = s.connectS3(); err != nil {
			return nil, err
		}
	}
	many := key == "" || strings.HasSuffix(key, "/") || strings.ContainsAny(key, "*?[")
	if !many {
		return []object{s.objectS3(bucket, key)}, nil
	}
	prefix := key
	if i := strings.IndexAny(key, "*?["); i >= 0 {
		prefix = key[:i]
	}
	for found := range s.s3.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if found.Err != nil {
			return nil, &fs.PathError{Op: "LIST", Path: "s3://" + bucket + "/" + prefix, Err: errorOfS3(found.Err)}
		}
		if matches(key, found.Key) {
			objects = append(objects, s.objectS3(bucket, found.Key))
		}
	}
	return objects, nil
}

// connectS3 goes by the environment variables and files of AWS's own tools. Without credentials, requests are anonymous.
func (s *stores) connectS3() (*minio.Core, error) {
	endpoint := s.endpoint
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if endpoint == "" {
			endpoint = os.Getenv(name)
		}
	}
	if endpoint == "" {
		endpoint = "https://s3.amazonaws.com"
	}
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Host == "" {
		return nil, kernel.Errorf(kernel.ValueError, "endpoint: want a URL such as https://storage.example.com:9000, got %q", endpoint)
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if s.endpoint == "" && parsed.Hostname() == "s3.amazonaws.com" { // on a machine of Amazon's
		providers = append(providers, &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second}})
	}
	return minio.NewCore(parsed.Host, &minio.Options{
		Creds:  credentials.NewChainCredentials(providers),
		Secure: parsed.Scheme == "https",
		Region: os.Getenv("AWS_REGION"),

		MaxRetries: 1, // a download tries again by itself
	})
}

func (s *stores) objectS3(bucket, key string) object {
	core := s.s3
	get := func(ctx context.Context, offset int64, tag string) (io.ReadCloser, string, error) {
		var o minio.GetObjectOptions
		if offset > 0 {
			o.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		}
		if tag != "" {
			o.Set("If-Match", `"`+tag+`"`)
		}
		body, info, header, err := core.GetObject(ctx, bucket, key, o)
		if err != nil {
			return nil, "", errorOfS3(err)
		}
		if tag != "" && info.ETag != tag || offset > 0 && !beginsAt(header, offset) {
			body.Close()
			return nil, "", errChanged
		}
		return body, info.ETag, nil
	}
	return object{url: "s3://" + bucket + "/" + key, get: get}
}

// errorOfS3 returns an error of Python's kind, or one that is temporary.
func errorOfS3(err error) error {
	switch code := minio.ToErrorResponse(err).StatusCode; {
	case code == http.StatusNotFound:
		return fs.ErrNotExist
	case code == http.StatusForbidden, code == http.StatusUnauthorized:
		return fs.ErrPermission
	case code == http.StatusPreconditionFailed:
		return errChanged
	case code == 0, code >= 500:
		return temporary{err}
	}
	return err
}
