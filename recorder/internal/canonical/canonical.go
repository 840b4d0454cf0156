// Package canonical computes the identity of an HTTP request, and the parts of its headers and
// URL that may be stored.
package canonical

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/internal/credential"
)

// Digest returns the SHA-256 hex of the canonical request: the method, the canonical URL, and the
// body as canonical JSON, or unchanged if it is not JSON. It ignores headers.
func Digest(method, canonicalURL, body string) string {
	kind, text := "raw", []byte(body)
	if c, ok := canonicalJSON(body); ok {
		kind, text = "json", c
	}
	h := sha256.New()
	h.Write([]byte(method + "\n" + canonicalURL + "\n" + kind + "\n"))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// RoleDigest returns the digest of a request that a role made: that of the request itself if
// the role is empty, so that equal requests of two roles are never matched with each other.
func RoleDigest(role, digest string) string {
	if role == "" {
		return digest
	}
	sum := sha256.Sum256([]byte(role + "\n" + digest))
	return hex.EncodeToString(sum[:])
}

// canonicalJSON sorts members and removes white space and unnecessary escapes. It does not change
// numbers, so that different ones stay different. It returns false for JSON with duplicate names
// or invalid text, because readers disagree about its meaning.
func canonicalJSON(body string) ([]byte, bool) {
	c, err := jsontext.AppendFormat(nil, body,
		jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false))
	return c, err == nil
}

// URL returns scheme, host, path and query of a URL. The query is sorted by name, without the
// credentials that some providers expect there. User info and fragment are removed.
func URL(u *url.URL) string {
	c := url.URL{
		Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Opaque: u.Opaque,
		Path: u.Path, RawPath: u.RawPath, RawQuery: query(u.RawQuery),
	}
	if c.Path == "" && c.Opaque == "" {
		c.Path = "/"
	}
	return c.String()
}

// query sorts the parts of a query by name. Parts with the same name stay in their order, which
// is significant.
func query(raw string) string {
	if raw == "" {
		return ""
	}
	parts := strings.Split(raw, "&")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" || credential.Param(ParamName(p)) })
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(ParamName(a), ParamName(b)) })
	return strings.Join(parts, "&")
}

// ParamName returns the unescaped name of a part of a query, such as a for a=b.
func ParamName(part string) string {
	name, _, _ := strings.Cut(part, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}
