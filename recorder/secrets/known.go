package secrets

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// knownSecrets are the forms of known credentials. They do not change.
type knownSecrets struct {
	values map[string]bool
	// forms are looked for in text as it stands, squeezed ones in squeezed text. Both
	// are found in any case.
	forms, squeezed words
	// sparse says that a credential has too few letters and digits for a squeezed
	// form.
	sparse bool
}

// words are forms to look for.
type words struct {
	*wordFinder
	// plain says of a form that it is a credential as it stands: the text around
	// it is no part of its encoding.
	plain []bool
}

func newKnownSecrets(values map[string]bool) *knownSecrets {
	n := &knownSecrets{values: values}
	if values == nil {
		n.values = map[string]bool{}
	}
	forms, squeezed := map[string]bool{}, map[string]bool{}
	add := func(form string, plain bool) {
		form = fold(form)
		forms[form] = forms[form] || plain
		if short := string(squeeze(nil, form)); len(short) >= minSecret {
			squeezed[short] = squeezed[short] || plain
		} else if plain {
			n.sparse = true
		}
	}
	for v := range n.values {
		for _, form := range encodings(v) {
			add(form, false)
		}
		for _, form := range base32Forms(v) {
			squeezed[fold(form)] = squeezed[fold(form)] // its runs are letters and digits, whatever stands between them
		}
		for _, form := range []string{v, strings.TrimSpace(v), strings.Join(strings.Fields(v), ""), strings.ToLower(v), strings.ToUpper(v)} {
			if len(form) >= minSecret {
				add(form, true)
			}
		}
	}
	n.forms, n.squeezed = newWords(forms), newWords(squeezed)
	return n
}

func newWords(forms map[string]bool) words {
	list := slices.Sorted(maps.Keys(forms))
	w := words{wordFinder: newWordFinder(list, true)}
	for _, form := range list {
		w.plain = append(w.plain, forms[form])
	}
	return w
}

// encodings returns what is sure to be in any text that holds s in an encoding
// which views do not undo: in hex, in base64, and percent-encoded, since a
// percent sign just before an escape would hide it there.
func encodings(s string) []string {
	forms := append(base64Forms(s), hex.EncodeToString([]byte(s)))
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

// base32Forms returns what is sure to be in any base32 text whose plain text holds
// s: for each of the five alignments, the letters that depend on s alone.
func base32Forms(s string) []string {
	var forms []string
	for shift := range 5 {
		plain := []byte(strings.Repeat("\x00", shift) + s)
		first, end := (shift*8+4)/5, len(plain)*8/5
		for _, alphabet := range []*base32.Encoding{base32.StdEncoding, base32.HexEncoding} {
			forms = append(forms, alphabet.EncodeToString(plain)[first:end])
		}
	}
	return forms
}

// find says what kind of credential s holds. In base64 and base32 it looks once.
func (n *knownSecrets) find(text string, decode bool) (kind string) {
	if len(text) < minSecret {
		return "" // no view of it is longer
	}
	views(text, func(s string, v view) bool {
		if n.known(s) {
			kind = configured
		} else if v != quotedView || s == text {
			kind = looksLike(s)
		}
		if kind == "" && decode && v == plainView {
			codedRuns(s, func(plain string) bool {
				kind = n.find(plain, false)
				return kind == ""
			})
		}
		return kind == ""
	})
	return kind
}

// known reports whether s holds a known credential: as it stands, or spaced out.
func (n *knownSecrets) known(s string) bool {
	if n.forms.head == 0 {
		return false
	}
	if at, _ := n.forms.find(s, 0); at >= 0 {
		return true
	}
	if n.sparse && strings.Contains(s, "\n") {
		if at, _ := n.forms.find(withoutLines(s), 0); at >= 0 {
			return true
		}
	}
	b := squeezeBuffers.Get().(*[]byte)
	defer squeezeBuffers.Put(b)
	*b = squeeze(*b, s)
	at, _ := findWord(n.squeezed.wordFinder, *b, 0)
	return at >= 0
}
