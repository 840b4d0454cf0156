// Package canonical says what of an HTTP request identifies it and what of its headers
// and URL may be stored.
package canonical

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest is the SHA-256 hex of the canonical request: the method, the
// canonical URL, and the body as canonical JSON, or byte for byte when it is
// none. Headers do not count.
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

// canonicalJSON orders members and drops white space and escapes without
// meaning; numbers stay as they are written, so none collide. JSON with
// duplicate names or broken text is not ok: it has no one meaning.
func canonicalJSON(body string) ([]byte, bool) {
	c, err := jsontext.AppendFormat(nil, body,
		jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false))
	return c, err == nil
}

// URL keeps scheme, host, path and query: the query sorted by name,
// without the credentials some providers take there. User info and fragment go.
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

// query sorts the parts of a query by name; parts with one name keep
// their order, which has meaning.
func query(raw string) string {
	if raw == "" {
		return ""
	}
	parts := strings.Split(raw, "&")
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" || CredentialParam(ParamName(p)) })
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(ParamName(a), ParamName(b)) })
	return strings.Join(parts, "&")
}

// ParamName is the name of a part of a query, such as a of a=b, unescaped.
func ParamName(part string) string {
	name, _, _ := strings.Cut(part, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}

// CredentialParam says whether a query parameter carries a credential or a
// signature, by its name.
func CredentialParam(name string) bool {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)) {
	case "key", "apikey", "accesskey", "accesstoken", "accesskeyid", "awsaccesskeyid", "token", "idtoken",
		"refreshtoken", "auth", "authorization", "signature", "sig", "secret", "clientsecret", "password",
		"xamzsignature", "xamzcredential", "xamzsecuritytoken", "xamzdate", "xgoogsignature", "xgoogcredential":
		return true
	}
	return false
}
