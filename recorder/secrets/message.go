package secrets

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// unreadable is the kind of a body that cannot be decoded.
const unreadable = "a content encoding in which credentials cannot be looked for"

// FindInMessage searches the headers and the body of a request or response for credentials,
// after decoding its content encoding and joining the pieces of a stream. It returns the field
// with one, such as ".body" or ".headers.Retry-After", and its kind; empty strings if there is
// none.
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
		// The case of a name is normalised, so its letters may differ from the credential's.
		if kind := s.Find(name + "\n" + strings.ToLower(name)); kind != "" {
			return "", kind
		}
		// The lines of a folded header are joined with a space.
		text := strings.Join(h[name], "\n")
		if kind := s.Find(text + "\n" + strings.ReplaceAll(text, " ", "\n")); kind != "" {
			return "." + name, kind
		}
	}
	return "", ""
}
