// Package s3store is a store.Store in a bucket of S3, or of a server that speaks its
// protocol and has conditional puts. Only programs of a fleet link it.
package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/internal/pause"
)

// Options configure a store. The zero value uses Amazon's service.
type Options struct {
	// Lookup reads environment variables, like os.LookupEnv: those of the AWS tools, such as
	// AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION and AWS_ENDPOINT_URL_S3.
	Lookup func(name string) (string, bool)
	// Transport sends the requests; nil means one with time-outs.
	Transport http.RoundTripper
	// Sleep waits between attempts; nil means real time.
	Sleep func(context.Context, time.Duration) error
}

type bucket struct {
	client *minio.Core
	name   string
	prefix string // empty, or ends with a slash
	sleep  func(context.Context, time.Duration) error
}

// maxPut is the largest object of one put, which is what conditions are for.
const maxPut = 5 << 30

// Open opens s3://BUCKET/PREFIX. It sends no request, but fails if there are no
// credentials.
func Open(address string, o Options) (store.Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the address of an S3 store must be s3://BUCKET/PREFIX, without credentials: these are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	prefix := strings.Trim(u.Path, "/")
	if err := store.CheckPrefix(prefix); err != nil {
		return nil, fmt.Errorf("open %s: %w", address, err)
	}
	if prefix != "" {
		prefix += "/"
	}
	env := func(names ...string) string {
		for _, name := range names {
			if v, _ := o.Lookup(name); v != "" {
				return v
			}
		}
		return ""
	}
	host, secure := "s3.amazonaws.com", true
	endpoint := env("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	if endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Host == "" || e.Scheme != "https" && e.Scheme != "http" || e.User != nil {
			return nil, errors.New("AWS_ENDPOINT_URL_S3 must be like https://HOST:PORT")
		}
		host, secure = e.Host, e.Scheme == "https"
	}
	secrets, err := findCredentials(env, endpoint == "")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w: %w", address, store.ErrDenied, err)
	}
	if o.Transport == nil {
		t, err := minio.DefaultTransport(secure)
		if err != nil {
			return nil, err
		}
		t.ResponseHeaderTimeout = time.Minute
		o.Transport = t
	}
	if o.Sleep == nil {
		o.Sleep = pause.For
	}
	client, err := minio.NewCore(host, &minio.Options{
		Creds: secrets, Secure: secure, Region: env("AWS_REGION", "AWS_DEFAULT_REGION"), Transport: o.Transport,
		MaxRetries: 1, // see attempts: a conditional put must know that it was repeated
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", address, err)
	}
	return &bucket{client, u.Host, prefix, o.Sleep}, nil
}

// findCredentials looks in the environment, in the file of the AWS tools and, for Amazon's
// service and for roles that the environment names, asks the machine's role.
func findCredentials(env func(...string) string, amazon bool) (*credentials.Credentials, error) {
	if id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return credentials.NewStaticV4(id, secret, env("AWS_SESSION_TOKEN")), nil
	}
	file := credentials.NewFileAWSCredentials(env("AWS_SHARED_CREDENTIALS_FILE"), env("AWS_PROFILE"))
	if v, err := file.GetWithContext(nil); err == nil && v.AccessKeyID != "" {
		return file, nil
	}
	if amazon || env("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" {
		return credentials.New(role{&credentials.IAM{}}), nil
	}
	return nil, errors.New("there are no credentials; " + noCredentials)
}

const noCredentials = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"

// errNoRole means that there are no credentials in the environment, and none of a role.
var errNoRole = errors.New("there are no credentials, and this machine has no role")

// role has the credentials of the machine's role.
type role struct{ *credentials.IAM }

// RetrieveWithCredContext implements credentials.Provider.
func (r role) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	v, err := r.IAM.RetrieveWithCredContext(c)
	if err != nil {
		err = fmt.Errorf("%w: %w", errNoRole, err)
	}
	return v, err
}

// attempts are the waits before an operation is tried again that the store did not answer.
var attempts = []time.Duration{200 * time.Millisecond, time.Second, 4 * time.Second}

// try calls f until it succeeds, fails for good or has failed too often. again is set from
// the second call on.
func (b *bucket) try(ctx context.Context, operation, name string, f func(again bool) error) error {
	for i := 0; ; i++ {
		err := b.classified(operation, name, f(i > 0))
		if err == nil || ctx.Err() != nil || i == len(attempts) || !errors.Is(err, store.ErrUnavailable) {
			return err
		}
		if err := b.sleep(ctx, attempts[i]); err != nil {
			return fmt.Errorf("%s %s: %w", operation, name, err)
		}
	}
}

func (b *bucket) Put(ctx context.Context, name string, body io.ReadSeeker, was store.Revision) (rev store.Revision, err error) {
	if err := store.CheckName(name); err != nil {
		return store.None, err
	}
	size, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return store.None, fmt.Errorf("put %s: %w", name, err)
	}
	if size > maxPut {
		return store.None, fmt.Errorf("put %s: it has %d bytes, and S3 takes at most %d at a time", name, size, int64(maxPut))
	}
	err = b.try(ctx, "put", name, func(again bool) error {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		o := minio.PutObjectOptions{DisableMultipart: true, ContentType: "application/octet-stream"}
		switch was {
		case store.Any:
		case store.None:
			o.SetMatchETagExcept("*")
		default:
			o.SetMatchETag(string(was))
		}
		info, err := b.client.Client.PutObject(ctx, b.name, b.prefix+name, body, size, o)
		rev = store.Revision(info.ETag)
		code := response(err).Code
		if err == nil || code != minio.PreconditionFailed && (code != minio.NoSuchKey || was == store.Any) {
			return err
		}
		if !again {
			return store.ErrChanged
		}
		// The first attempt may have been carried out, and only its answer lost.
		same, now, err := b.same(ctx, name, body)
		if rev = now; err == nil && !same {
			err = store.ErrChanged
		}
		return err
	})
	return rev, err
}

// same reports whether an object has the bytes of body, and returns its revision.
func (b *bucket) same(ctx context.Context, name string, body io.ReadSeeker) (bool, store.Revision, error) {
	r, info, _, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return false, store.None, err
	}
	defer func() { _ = r.Close() }()
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return false, store.None, err
	}
	equal, err := store.EqualBytes(r, body)
	return equal, store.Revision(info.ETag), err
}

func (b *bucket) Get(ctx context.Context, name string) (r io.ReadCloser, o store.Object, err error) {
	if err := store.CheckName(name); err != nil {
		return nil, o, err
	}
	err = b.try(ctx, "get", name, func(bool) error {
		body, info, _, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
		r, o = body, store.Object{Name: name, Size: info.Size, Modified: info.LastModified, Revision: store.Revision(info.ETag)}
		return err
	})
	if err != nil {
		return nil, store.Object{}, err
	}
	return &content{r, b, name}, o, nil
}

// content is the body of an object. A failure while it is read is one of the store.
type content struct {
	io.ReadCloser
	b    *bucket
	name string
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.b.classified("get", c.name, err)
	}
	return n, err
}

func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		if err := store.CheckPrefix(prefix); err != nil {
			yield(store.Object{}, err)
			return
		}
		after := "" // the last key, from which a list continues that was cut off
		enough := false
		err := b.try(ctx, "list", prefix, func(bool) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			for o := range b.client.Client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true, StartAfter: after}) {
				if o.Err != nil {
					return o.Err
				}
				name := strings.TrimPrefix(o.Key, b.prefix)
				if after = o.Key; store.CheckName(name) != nil { // another program's
					continue
				}
				if enough = !yield(store.Object{Name: name, Size: o.Size, Modified: o.LastModified}, nil); enough {
					return nil
				}
			}
			return ctx.Err()
		})
		if err != nil && !enough {
			yield(store.Object{}, err)
		}
	}
}

func (b *bucket) Delete(ctx context.Context, name string) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	return b.try(ctx, "delete", name, func(bool) error {
		return b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
	})
}
