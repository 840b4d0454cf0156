package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// maxQuoted bounds what a model wrote before it is quoted back, in characters.
const maxQuoted = 64

// Bounds of an address, written and filled in, in bytes.
const (
	maxTemplate = 2 << 10
	maxAddress  = 8 << 10
)

// urlTemplate is an address with {argument} in its path and query. Where a
// request goes, scheme and host, is always literal.
type urlTemplate struct {
	origin string // scheme://host
	path   []part
	query  [][]part // one list of parts for each parameter
}

// part is literal text, or the argument that is there; exactly one is set.
type part struct{ literal, argument string }

var (
	argumentName = regexp.MustCompile(`^[A-Za-z0-9_.$-]+$`)
	// urlText matches what may occur in an address unencoded, and escapes.
	urlText = regexp.MustCompile(`^(?:[A-Za-z0-9._~:/?@!$&'()*+,;=\[\]-]|%[0-9A-Fa-f]{2})*$`)
)

// parseURLTemplate reads a template.
func parseURLTemplate(text string) (urlTemplate, error) {
	var t urlTemplate
	if len(text) > maxTemplate {
		return t, fmt.Errorf("must be at most %d bytes", maxTemplate)
	}
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "http" && scheme != "https" {
		return t, errors.New("must begin with http:// or https://")
	}
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, rest = rest[:i], rest[i:]
	} else {
		rest = ""
	}
	switch {
	case strings.ContainsAny(host, "{}"):
		return t, errors.New("must name its host: an argument is allowed only in the path and after the = of a query parameter")
	case strings.Contains(host, "@"):
		return t, errors.New("must not contain a user name or password; send a credential in a header, from the environment")
	case strings.Contains(rest, "#"):
		return t, errors.New("must have no fragment (#…): it would not be sent")
	}
	t.origin = scheme + "://" + host
	if u, err := url.Parse(t.origin); err != nil || u.Host != host || u.Hostname() == "" {
		return t, fmt.Errorf("has no valid host: %q", host)
	}
	path, query, _ := strings.Cut(rest, "?")
	var err error
	if t.path, err = parseParts(path); err != nil {
		return t, err
	}
	for param := range strings.SplitSeq(query, "&") {
		if param == "" {
			continue
		}
		name, _, _ := strings.Cut(param, "=")
		if strings.Contains(name, "{") {
			return t, fmt.Errorf("query parameter %q: an argument is allowed only after the =", param)
		}
		parts, err := parseParts(param)
		if err != nil {
			return t, err
		}
		t.query = append(t.query, parts)
	}
	return t, nil
}

// parseParts splits text at its {arguments}.
func parseParts(text string) ([]part, error) {
	var parts []part
	for text != "" {
		literal, rest, found := strings.Cut(text, "{")
		if !urlText.MatchString(literal) {
			return nil, fmt.Errorf("%q contains a character that must be percent-encoded, a lone brace or a broken escape", literal)
		}
		if literal != "" {
			parts = append(parts, part{literal: literal})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !argumentName.MatchString(name) {
			return nil, fmt.Errorf("{%s is not an {argument}", clip.Runes(rest, maxQuoted))
		}
		parts = append(parts, part{argument: name})
		text = after
	}
	return parts, nil
}

// arguments lists the arguments a template has, and those it cannot do without.
func (t urlTemplate) arguments() (all, needed []string) {
	for _, p := range t.path {
		if p.argument != "" {
			needed = append(needed, p.argument)
		}
	}
	all = slices.Clone(needed)
	for _, param := range t.query {
		for _, p := range param {
			if p.argument != "" {
				all = append(all, p.argument)
			}
		}
	}
	return all, needed
}

// expand fills in the arguments, a JSON object.
func (t urlTemplate) expand(args json.RawMessage) (string, error) {
	canonical, err := tool.Canonical(args)
	if err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &values); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	path, missing := fill(t.path, values, true, url.PathEscape)
	if missing != "" {
		return "", fmt.Errorf("args.%s: is missing or empty, and the address needs it", missing)
	}
	if err := checkPath(path); err != nil {
		return "", err
	}
	out := t.origin + path
	separator := "?"
	for _, param := range t.query {
		if text, missing := fill(param, values, false, escapeQuery); missing == "" {
			out += separator + text
			separator = "&"
		}
	}
	if len(out) > maxAddress {
		return "", fmt.Errorf("args: the address would be longer than %d bytes", maxAddress)
	}
	return out, nil
}

// fill joins the parts; missing names the first argument without a value, where
// something is needed also an empty one.
func fill(parts []part, values map[string]json.RawMessage, something bool, escape func(string) string) (text, missing string) {
	var b strings.Builder
	for _, p := range parts {
		if p.argument == "" {
			b.WriteString(p.literal)
			continue
		}
		raw, ok := values[p.argument]
		if !ok || string(raw) == "null" {
			return "", p.argument
		}
		value := string(raw)
		if raw[0] == '"' {
			_ = json.Unmarshal(raw, &value) // canonical JSON always decodes
		}
		if value == "" && something {
			return "", p.argument
		}
		b.WriteString(escape(value))
	}
	return b.String(), ""
}

// escapeQuery encodes a value of a query parameter; a space is %20, which
// means the same everywhere.
func escapeQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// checkPath refuses a path that a server could read as another one: arguments
// must not climb.
func checkPath(path string) error {
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return errors.New("args: the address would be invalid")
		}
		for _, piece := range strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '\\' }) {
			if piece == "." || piece == ".." {
				return errors.New("args: a value of . or .. cannot be part of the address")
			}
		}
	}
	return nil
}
