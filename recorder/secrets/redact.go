package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// Redact returns text with every credential replaced by Hidden, and counts the finds under
// field. It replaces the complete line of an escaped credential. It does not change a text that
// is already redacted, because it does not search Hidden itself.
func (s *Finder) Redact(field, text string) string {
	n := s.current()
	kind := n.unredacted(text)
	if kind == "" {
		return text
	}
	if s != nil {
		s.mu.Lock()
		s.tally[Redaction{Field: field, Kind: kind}]++
		s.mu.Unlock()
	}
	text = n.replace(text)
	if n.unredacted(text) == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if n.unredacted(line) == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString(Hidden)
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	if n.unredacted(b.String()) != "" { // it is split over several lines
		return Hidden
	}
	return b.String()
}

// unredacted returns the kind of a credential in text, apart from redacted ones.
func (n *knownSecrets) unredacted(text string) string {
	kind := n.find(text, true)
	if kind != "" && strings.Contains(text, Hidden) {
		return n.find(masked(text), true)
	}
	return kind
}

// masked returns text with NUL bytes in place of each Hidden. They have the same length and are
// not part of a credential.
func masked(text string) string {
	return strings.ReplaceAll(text, Hidden, mask)
}

var mask = strings.Repeat("\x00", len(Hidden))

// span is a range of bytes of a text.
type span struct{ start, end int }

// replace replaces the unescaped credentials in s with Hidden, in one pass. It replaces
// overlapping ones once and does not search the replacements.
func (n *knownSecrets) replace(s string) string {
	seen := masked(s)
	found := append(n.forms.spans(seen, false), n.squeezed.spans(seen, true)...)
	found = append(found, patternSpans(seen)...)
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	done := 0
	for len(found) > 0 {
		f := found[0]
		for found = found[1:]; len(found) > 0 && found[0].start < f.end; found = found[1:] {
			f.end = max(f.end, found[0].end)
		}
		b.WriteString(s[done:f.start])
		b.WriteString(Hidden)
		done = f.end
	}
	b.WriteString(s[done:])
	return b.String()
}

// spans returns the positions of the words in s, or in s squeezed. The span of an encoded word
// includes the rest of the encoded text.
func (w words) spans(s string, squeezed bool) (found []span) {
	if w.head == 0 {
		return nil
	}
	text, at := s, []int(nil)
	if squeezed {
		text = string(squeeze(nil, s))
		for i := range len(s) {
			if squeezedByte[s[i]] != 0 {
				at = append(at, i)
			}
		}
	}
	runStart, runEnd := 0, 0 // of the last encoded text
	for i, k := w.find(text, 0); i >= 0; i, k = w.find(text, i+1) {
		f := span{i, i + len(w.words[k])}
		if squeezed {
			f = span{at[f.start], at[f.end-1] + 1}
		}
		if !w.plain[k] {
			if runStart <= f.start && f.end <= runEnd {
				continue
			}
			for f.start > runEnd && encodedByte(s[f.start-1]) {
				f.start--
			}
			for f.end < len(s) && encodedByte(s[f.end]) {
				f.end++
			}
			runStart, runEnd = f.start, f.end
		}
		found = append(found, f)
	}
	return found
}

// encodedByte reports whether c may be part of base64, base32, hex or percent-encoded text.
func encodedByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/=_-%", c) >= 0
}

// patternSpans returns the matches of all patterns in s.
func patternSpans(s string) (found []span) {
	set := hinted(s)
	for i := 0; set>>i != 0; i++ {
		if set>>i&1 == 0 {
			continue
		}
		l := secretPatterns()[i]
		for _, m := range l.form.FindAllStringIndex(s, -1) {
			if l.random == nil || l.random(s[m[0]:m[1]]) {
				found = append(found, span{m[0], m[1]})
			}
		}
	}
	return found
}
