package recorder

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// unreadable is the kind of a body that cannot be looked into.
const unreadable = "a content encoding in which credentials cannot be looked for"

// findIn says which field of an interaction holds what kind of credential.
func (s *Secrets) findIn(it *interaction) (field, kind string) {
	for _, f := range []struct{ name, text string }{
		{"request.url", it.Request.URL}, {"request.method", it.Request.Method},
		{"response.status", it.Response.Status}, {"failed", it.failure},
	} {
		if kind := s.Find(f.text); kind != "" {
			return f.name, kind
		}
	}
	for _, side := range []struct {
		name, body string
		headers    http.Header
	}{{"request", it.Request.Body, it.Request.Headers}, {"response", it.Response.Body, it.Response.Headers}} {
		if field, kind := s.findInBody(side.headers, side.body); kind != "" {
			return side.name + field, kind
		}
		if field, kind := s.findInHeaders(side.headers); kind != "" {
			return side.name + ".headers" + field, kind
		}
	}
	return "", ""
}

func (s *Secrets) findInBody(h http.Header, body string) (field, kind string) {
	body, ok := unpacked(h, body)
	if !ok {
		return ".body", unreadable
	}
	if kind := s.Find(body); kind != "" {
		return ".body", kind
	}
	for _, text := range streamed(body) {
		if kind := s.Find(text); kind != "" {
			return ".body (in pieces)", kind
		}
	}
	return "", ""
}

func (s *Secrets) findInHeaders(h http.Header) (field, kind string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		// A name is written in a case of its own.
		if kind := s.Find(name + "\n" + strings.ToLower(name)); kind != "" {
			return "", kind
		}
		// A line that goes on in the next one comes joined by a space.
		text := strings.Join(h[name], "\n")
		if kind := s.Find(text + "\n" + strings.ReplaceAll(text, " ", "\n")); kind != "" {
			return "." + name, kind
		}
	}
	return "", ""
}
