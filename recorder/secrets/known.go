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

// knownSecrets has the forms of the known credentials. It is immutable.
type knownSecrets struct {
	values map[string]bool
	// forms are searched in plain text, squeezed in squeezed text, both in any case.
	forms, squeezed words
	// sparse means that a credential has too few letters and digits for a squeezed form.
	sparse bool
}

// words are the forms to search for.
type words struct {
	*wordFinder
	// plain marks the forms that are complete credentials. Text next to another form may be part
	// of its encoding.
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
			squeezed[fold(form)] = squeezed[fold(form)] // squeezing removes what may separate its characters
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

// encodings returns texts of which one is in any text that contains s in an encoding that views
// do not decode: hex, base64 and percent encoding. Views could miss the last one after a percent
// sign.
func encodings(s string) []string {
	forms := append(base64Forms(s), hex.EncodeToString([]byte(s)))
	for _, form := range []string{url.QueryEscape(s), url.PathEscape(s)} {
		if form != s {
			forms = append(forms, form)
		}
	}
	return forms
}

// base64Forms returns texts of which one is in any base64 text whose plain text contains s: for
// each of the three alignments, the letters that depend only on s.
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

// base32Forms returns texts of which one is in any base32 text whose plain text contains s: for
// each of the five alignments, the letters that depend only on s.
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

// find returns the kind of a credential in text. decode also decodes base64 and base32, once.
func (n *knownSecrets) find(text string, decode bool) (kind string) {
	if len(text) < minSecret {
		return "" // no view is longer than the text
	}
	views(text, func(s string, v view) bool {
		if n.known(s) {
			kind = configured
		} else if v != quotedView || s == text {
			kind = findPattern(s)
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

// known reports whether s contains a known credential, also one with spaces between characters.
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
