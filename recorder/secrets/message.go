package secrets

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// unreadable is the kind of a body that cannot be looked into.
const unreadable = "a content encoding in which credentials cannot be looked for"

// FindInMessage looks for credentials in the headers and the body of a request or
// response, beneath its content encoding and in what a stream spells piece by piece. It
// returns the field that holds one, such as ".body" or ".headers.Retry-After", and its
// kind; empty strings if there is none.
func (s *Finder) FindInMessage(h http.Header, body string) (field, kind string) {
	if field, kind := s.findInBody(h, body); kind != "" {
		return field, kind
	}
	if field, kind := s.findInHeaders(h); kind != "" {
		return ".headers" + field, kind
	}
	return "", ""
}

func (s *Finder) findInBody(h http.Header, body string) (field, kind string) {
	body, ok := unpacked(h, body)
	if !ok {
		return ".body", unreadable
	}
	if kind := s.Find(body); kind != "" {
		return ".body", kind
	}
	for _, text := range streamedTexts(body) {
		if kind := s.Find(text); kind != "" {
			return ".body (in pieces)", kind
		}
	}
	return "", ""
}

func (s *Finder) findInHeaders(h http.Header) (field, kind string) {
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
