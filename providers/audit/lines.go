package audit

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
)

// maxLine bounds a line of JSON, in bytes.
const maxLine = 64 << 20

// Lines reads exchanges from JSON lines, each an object with request (method, url,
// body) and response (status, headers, body and, of bytes that are not text,
// body_encoding "base64"); id and provider are optional. name is the file in names
// and errors. An error names the line, and the lines after it are read.
func Lines(name string, r io.Reader) iter.Seq2[Exchange, error] {
	return func(yield func(Exchange, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		n := 0
		for lines.Scan() {
			n++
			if len(strings.TrimSpace(lines.Text())) == 0 {
				continue
			}
			x, err := line(lines.Bytes())
			x.Name = cmp.Or(x.Name, fmt.Sprintf("%s:%d", name, n))
			if err != nil {
				err = fmt.Errorf("%s:%d: not a recorded exchange: %w", name, n, err)
			}
			if !yield(x, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Exchange{}, fmt.Errorf("%s:%d: %w", name, n+1, err))
		}
	}
}

// line reads one exchange.
func line(text []byte) (Exchange, error) {
	var row struct {
		ID, Provider string
		Request      struct {
			Method, URL string
			Body        json.RawMessage
		}
		Response struct {
			Status       int
			Headers      map[string]json.RawMessage
			Body         json.RawMessage
			BodyEncoding string `json:"body_encoding"`
		}
	}
	if err := json.Unmarshal(text, &row); err != nil {
		return Exchange{}, err
	}
	x := Exchange{
		Name: row.ID, Provider: row.Provider, Method: row.Request.Method, URL: row.Request.URL,
		Request: content(row.Request.Body), Status: row.Response.Status, Header: http.Header{}, Body: content(row.Response.Body),
	}
	if x.Method == "" || x.URL == "" || x.Status == 0 {
		return x, errors.New("want request.method, request.url and response.status")
	}
	for name, raw := range row.Response.Headers {
		var values []string
		var one string
		if json.Unmarshal(raw, &values) != nil && json.Unmarshal(raw, &one) == nil {
			values = []string{one}
		}
		x.Header[http.CanonicalHeaderKey(name)] = values
	}
	if row.Response.BodyEncoding == "base64" {
		var err error
		if x.Body, err = base64.StdEncoding.DecodeString(string(x.Body)); err != nil {
			return x, fmt.Errorf("response.body: %w", err)
		}
	}
	return x, nil
}

// content is a body: a string, or JSON as it is.
func content(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	return raw
}
