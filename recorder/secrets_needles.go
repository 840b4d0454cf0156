package recorder

import (
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// needles are the forms of known credentials. They do not change.
type needles struct {
	values map[string]bool
	forms  *finder
	// plain says of a form that it is a credential as it stands: the text around
	// it is no part of its encoding.
	plain []bool
}

func newNeedles(values map[string]bool) *needles {
	n := &needles{values: values}
	if values == nil {
		n.values = map[string]bool{}
	}
	forms := map[string]bool{}
	for v := range n.values {
		for _, form := range encodings(v) {
			if _, ok := forms[form]; !ok {
				forms[form] = false
			}
		}
		for _, form := range []string{v, strings.TrimSpace(v), strings.Join(strings.Fields(v), ""), strings.ToLower(v)} {
			if len(form) >= minSecret {
				forms[form] = true
			}
		}
	}
	words := slices.Sorted(maps.Keys(forms))
	n.forms = newFinder(words)
	for _, w := range words {
		n.plain = append(n.plain, forms[w])
	}
	return n
}

// encodings returns what is sure to be in any text that holds s in an encoding
// which views do not undo: in hex, in base64, and percent-encoded, since a
// percent sign just before an escape would hide it there.
func encodings(s string) []string {
	code := hex.EncodeToString([]byte(s))
	forms := append(base64Forms(s), code, strings.ToUpper(code))
	for _, form := range []string{url.QueryEscape(s), url.PathEscape(s)} {
		if form != s {
			forms = append(forms, form)
		}
	}
	return forms
}

// base64Forms returns what is sure to be in any base64 text whose plain text
// holds s: for each of the three alignments, the letters that depend on s alone.
func base64Forms(s string) []string {
	var forms []string
	for shift := range 3 {
		plain := []byte(strings.Repeat("\x00", shift) + s)
		first, end := (shift*8+5)/6, len(plain)*8/6
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, alphabet.EncodeToString(plain)[first:end])
		}
	}
	return forms
}

// find says what kind of credential s holds. In base64 it looks once.
func (n *needles) find(text string, decode bool) (kind string) {
	if len(text) < minSecret {
		return "" // no view of it is longer
	}
	views(text, func(s string, v view) bool {
		if at, _ := n.forms.find(s, 0); at >= 0 {
			kind = configured
		} else if v == plainView || v == otherView || s == text {
			kind = looksLike(s)
		}
		if kind == "" && decode && v == plainView {
			base64Runs(s, func(plain string) bool {
				kind = n.find(plain, false)
				return kind == ""
			})
		}
		return kind == ""
	})
	return kind
}

// replace puts Hidden in place of what stands openly in s.
func (n *needles) replace(s string) string {
	var b strings.Builder
	done := 0
	for {
		at, w := n.forms.find(s, done)
		if at < 0 {
			break
		}
		end := at + len(n.forms.words[w])
		if !n.plain[w] { // take the rest of the encoded text with it
			for at > done && encodedByte(s[at-1]) {
				at--
			}
			for end < len(s) && encodedByte(s[end]) {
				end++
			}
		}
		b.WriteString(s[done:at])
		b.WriteString(Hidden)
		done = end
	}
	b.WriteString(s[done:])
	return replaceLooks(b.String())
}

// encodedByte says whether c may be part of base64, hex or percent-encoded text.
func encodedByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/=_-%", c) >= 0
}
