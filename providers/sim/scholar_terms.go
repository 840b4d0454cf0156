package sim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is one token of a research request, as written.
type piece struct {
	raw, low string
	quoted   bool
}

var (
	pieces  = regexp.MustCompile(`"[^"\n]{1,80}"|“[^”\n]{1,80}”|[\p{L}_][\p{L}\p{M}\d_]*(?:['’-][\p{L}\p{M}\d_]+)*|\d+(?:\.\d+)?(?:s|th|st|nd|rd)?|[^\s\p{L}\d]`)
	century = regexp.MustCompile(`^(\d\d)(?:th|st)$`)
	decade  = regexp.MustCompile(`^(\d{3}0)s$`)
	idShape = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
)

// maxPieces bounds how much of a request is read.
const maxPieces = 600

// terms reads a text in the vocabulary.
func terms(text string) []term {
	ps := cutPieces(text)
	var out []term
	for i := 0; i < len(ps); {
		t, n := termAt(ps, i)
		if t.role != roleIdle || t.text != "" {
			out = append(out, t)
		}
		i += n
	}
	return out
}

// cutPieces cuts a text into tokens; words joined by a hyphen come apart if the
// vocabulary has them all.
func cutPieces(text string) []piece {
	var out []piece
	for _, raw := range pieces.FindAllString(head(text, maxRequest), maxPieces) {
		if inside := strings.Trim(raw, `"“”`); inside != raw && inside != "" {
			out = append(out, piece{raw: inside, low: strings.ToLower(inside), quoted: true})
			continue
		}
		raw = strings.ReplaceAll(raw, "’", "'")
		parts := strings.Split(raw, "-")
		if len(parts) > 1 && slices.ContainsFunc(parts, func(s string) bool { return !inVocabulary(strings.ToLower(s)) }) {
			parts = []string{raw}
		}
		for _, part := range parts {
			out = append(out, piece{raw: part, low: strings.ToLower(part)})
		}
	}
	return out
}

// inVocabulary reports whether a word means something by itself.
func inVocabulary(low string) bool {
	_, ok := researchLexicon[low]
	return ok || numberWords[low] > 0
}

// termAt reads the term that begins at piece i, and how many pieces it takes.
func termAt(ps []piece, i int) (term, int) {
	p := ps[i]
	if p.quoted {
		return term{role: roleName, text: p.raw, n: 2}, 1
	}
	if name, n := nameAt(ps, i); n > 0 {
		return name, n
	}
	if t, n := phraseOf(ps, i); n > 0 {
		return t, n
	}
	if t, ok := numberOf(p); ok {
		return t, 1
	}
	if strings.Contains(p.raw, "-") && idShape.MatchString(p.raw) {
		return term{role: roleName, text: p.raw}, 1
	}
	r, _ := utf8.DecodeRuneInString(p.raw)
	return term{role: roleStrange, text: p.raw, upper: unicode.IsUpper(r)}, 1
}

// phraseOf reads the longest phrase of the vocabulary.
func phraseOf(ps []piece, i int) (term, int) {
	for n := min(longestPhrase, len(ps)-i); n > 0; n-- {
		var words []string
		for _, p := range ps[i : i+n] {
			words = append(words, p.low)
		}
		key := strings.Join(words, " ")
		t, ok := researchLexicon[key]
		if !ok {
			t, ok = researchLexicon[strings.TrimSuffix(strings.TrimSuffix(key, "'s"), "'")]
		}
		if ok {
			t.text = key
			return t, n
		}
	}
	return term{}, 0
}

// numberOf reads a number, a decade or a century.
func numberOf(p piece) (term, bool) {
	if m := century.FindStringSubmatch(p.low); m != nil {
		return term{role: roleNumber, n: float64(atoi(m[1])-1) * 100, field: "century", text: p.raw}, true
	}
	if m := decade.FindStringSubmatch(p.low); m != nil {
		return term{role: roleNumber, n: float64(atoi(m[1])), field: "decade", text: p.raw}, true
	}
	if n, ok := numberWords[p.low]; ok {
		return term{role: roleNumber, n: n, text: p.raw}, true
	}
	n, err := strconv.ParseFloat(p.raw, 64)
	return term{role: roleNumber, n: n, text: p.raw}, err == nil
}

// placeWords are words of the vocabulary that places are often named by.
var placeWords = []string{"old", "high", "long", "lower", "far", "north", "south", "east", "west", "great", "first", "second", "new", "black", "shore", "point"}

// nameAt reads a run of capitalised words as a name; n is 0 if there is none. The
// first word of a sentence is one only if it is not in the vocabulary.
func nameAt(ps []piece, i int) (t term, n int) {
	if !capital(ps[i]) || startsSentence(ps, i) && inVocabulary(trimOwner(ps[i].low)) && !slices.Contains(placeWords, ps[i].low) {
		return t, 0
	}
	end := i + 1
	for end < len(ps) {
		next := connected(ps, end)
		if next == 0 || strings.HasSuffix(ps[end-1].low, "'s") && researchLexicon[ps[end].low].role == roleLights {
			break
		}
		end += next
	}
	words := ps[i:end]
	for len(words) > 1 && researchLexicon[trimOwner(words[len(words)-1].low)].role == roleLights {
		words = words[:len(words)-1]
	}
	if !slices.ContainsFunc(words, func(p piece) bool { return p.raw != "." && !inVocabulary(trimOwner(p.low)) }) {
		return t, 0
	}
	var text []string
	for _, p := range words {
		if p.raw == "." {
			text[len(text)-1] += "."
			continue
		}
		text = append(text, p.raw)
	}
	name := strings.Join(text, " ")
	t = term{role: roleName, text: trimOwner(name), upper: true}
	if t.text != name {
		t.n = 1 // a possessive
	}
	return t, len(words)
}

// connected says how many pieces from i on continue a name: a capitalised word, a
// full stop after an abbreviation, or "of" between capitals.
func connected(ps []piece, i int) int {
	follows := func(j int) bool { return j < len(ps) && capital(ps[j]) }
	switch {
	case follows(i):
		return 1
	case ps[i].raw == "." && len(ps[i-1].raw) <= 3 && follows(i+1):
		return 2
	case slices.Contains([]string{"of", "de", "du", "da"}, ps[i].low) && follows(i+1):
		return 2
	}
	return 0
}

// trimOwner takes the possessive s off.
func trimOwner(word string) string {
	return strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
}

func capital(p piece) bool {
	r, _ := utf8.DecodeRuneInString(p.raw)
	return unicode.IsUpper(r) && !p.quoted
}

// startsSentence reports whether piece i is the first of a sentence.
func startsSentence(ps []piece, i int) bool {
	return i == 0 || slices.Contains([]string{".", "?", "!", ":", ";", "\"", "-", "–"}, ps[i-1].raw)
}
