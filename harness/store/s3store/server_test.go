package s3store

import (
	"bufio"
	"bytes"
	"crypto/md5" //nolint:gosec // what S3 calls an ETag
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// server speaks the part of S3 that the store uses, for one bucket. It refuses a put whose
// condition does not hold.
type server struct {
	mu      sync.Mutex
	objects map[string]object
	// before is called for each request; if it answers, the request is not carried out. after
	// is called once it was, and may lose the answer.
	before, after func(w http.ResponseWriter, r *http.Request) bool
}

type object struct {
	data []byte
	etag string
	at   time.Time
}

const bucketName, accessKey = "runs", "AKIATEST"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	if s.before != nil && s.before(w, r) {
		return
	}
	if !strings.Contains(r.Header.Get("Authorization"), "Credential="+accessKey+"/") {
		fail(w, http.StatusForbidden, "InvalidAccessKeyId")
		return
	}
	at, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if at != bucketName {
		fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := r.URL.Query()["location"]; ok {
		_, _ = io.WriteString(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
		return
	}
	was, exists := s.objects[key]
	switch {
	case r.Method == http.MethodGet && key == "":
		s.list(w, r)
	case r.Method == http.MethodPut:
		match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		switch {
		case match != "" && !exists:
			fail(w, http.StatusNotFound, "NoSuchKey")
			return
		case match != "" && match != `"`+was.etag+`"`, none == "*" && exists:
			fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		sum := md5.Sum(body) //nolint:gosec // as above
		o := object{body, hex.EncodeToString(sum[:]), time.Now()}
		s.objects[key] = o
		if s.after != nil && s.after(w, r) {
			return
		}
		w.Header().Set("ETag", `"`+o.etag+`"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !exists:
		fail(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"`+was.etag+`"`)
		w.Header().Set("Last-Modified", was.at.UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(was.data)))
		_, _ = w.Write(was.data)
	}
}

// page is the number of objects in a page of a list.
const page = 3

func (s *server) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after := max(q.Get("start-after"), q.Get("continuation-token"))
	type content struct {
		Key, LastModified, ETag string
		Size                    int
	}
	out := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		EncodingType          string
		Contents              []content
	}{}
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, q.Get("prefix")) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > page {
		keys = keys[:page]
		out.IsTruncated, out.NextContinuationToken = true, keys[page-1]
	}
	for _, key := range keys {
		o := s.objects[key]
		name := key
		if q.Get("encoding-type") == "url" {
			name, out.EncodingType = url.QueryEscape(key), "url"
		}
		out.Contents = append(out.Contents, content{name, o.at.UTC().Format(time.RFC3339), `"` + o.etag + `"`, len(o.data)})
	}
	_ = xml.NewEncoder(w).Encode(out)
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s of the test</Message></Error>", code, code)
}

// readBody reads a body, which may be in signed chunks.
func readBody(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in := bufio.NewReader(r.Body)
	var out bytes.Buffer
	for {
		head, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(head), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(&out, in, n); err != nil {
			return nil, err
		}
		if n == 0 {
			_, err = io.Copy(io.Discard, in)
			return out.Bytes(), err
		}
		if _, err := in.Discard(2); err != nil {
			return nil, err
		}
	}
}
