package sim

import (
	"strings"
	"unicode"
)

// tokenKind says what a token is made of.
type tokenKind int

const (
	word tokenKind = iota
	digits
	han // one Han character
	punct
)

// token is one piece of a request: folded to lower case without accents.
type token struct {
	kind tokenKind
	text string
	// glued says that no space stands between it and the token before it.
	glued bool
}

// maxRequest bounds, in runes, how much of a request is read.
const maxRequest = 4000

// tokenize cuts a request into tokens.
func tokenize(text string) []token {
	runes := []rune(head(text, maxRequest))
	for i, r := range runes {
		runes[i] = plain(r)
	}
	var out []token
	spaced := true
	for i := 0; i < len(runes); {
		r := runes[i]
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			spaced = true
			i++
			continue
		}
		kind, end := scan(runes, i)
		if hyphen(runes, i) {
			spaced, i = false, i+1
			continue
		}
		out = append(out, token{kind: kind, text: tidy(kind, runes[i:end]), glued: !spaced})
		spaced, i = false, end
	}
	return out
}

// head is the first n runes of a text.
func head(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}

// scan finds the kind and the end of the token that begins at i.
func scan(runes []rune, i int) (tokenKind, int) {
	r, end := runes[i], i+1
	switch {
	case unicode.Is(unicode.Han, r):
		return han, end
	case r >= '0' && r <= '9':
		for end < len(runes) && runes[end] >= '0' && runes[end] <= '9' {
			end++
		}
		return digits, end
	case !letter(r):
		return punct, end
	}
	for end < len(runes) && (letter(runes[end]) || runes[end] == '\'' && end+1 < len(runes) && letter(runes[end+1])) {
		end++
	}
	return word, end
}

// letter reports whether r belongs into a word; Han characters stand alone.
func letter(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !unicode.Is(unicode.Han, r)
}

// hyphen reports whether i is a hyphen inside a word: month-to-date reads like
// month to date.
func hyphen(runes []rune, i int) bool {
	return runes[i] == '-' && i > 0 && i+1 < len(runes) && letter(runes[i-1]) && letter(runes[i+1])
}

// tidy folds a token's text: lower case, no accents, no possessive s, no elided
// article.
func tidy(kind tokenKind, runes []rune) string {
	if kind != word {
		return string(runes)
	}
	var b strings.Builder
	for _, r := range runes {
		r = unicode.ToLower(r)
		switch {
		case unicode.IsMark(r):
		case unaccented[r] != "":
			b.WriteString(unaccented[r])
		default:
			b.WriteRune(r)
		}
	}
	text := strings.TrimSuffix(b.String(), "'s")
	if before, after, ok := strings.Cut(text, "'"); ok && len(before) <= 2 && len(after) > 2 {
		return after // d'hier, l'info
	}
	return text
}

// plain maps full-width and typographic characters to their ASCII likeness.
func plain(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '’' || r == '‘' || r == 'ʼ':
		return '\''
	case r == '–' || r == '—' || r == '−' || r == '‐' || r == '‑' || r == '〜':
		return '-'
	case r == '、':
		return ','
	}
	return r
}

// unaccented is the fold of the accented letters of the languages read.
var unaccented = map[rune]string{
	'á': "a", 'à': "a", 'â': "a", 'ã': "a", 'ä': "a", 'é': "e", 'è': "e", 'ê': "e", 'ë': "e",
	'í': "i", 'ì': "i", 'î': "i", 'ï': "i", 'ó': "o", 'ò': "o", 'ô': "o", 'õ': "o", 'ö': "o",
	'ú': "u", 'ù': "u", 'û': "u", 'ü': "u", 'ñ': "n", 'ç': "c", 'ß': "ss", 'œ': "oe", 'æ': "ae",
}
