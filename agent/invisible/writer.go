package invisible

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Writer writes text on so that it can neither control a terminal nor give a
// command to what runs a CI job, whoever wrote the text. Unsafe characters except
// newline and tab become \u{…}, which also takes the section marks of GitLab apart.
// A backslash goes between two colons that a line begins with (the "::error::" of
// GitHub Actions, after blanks, too), and after two number signs
// that a letter or a bracket follows ("##[error]", "##vso[…]" of Azure Pipelines,
// "##teamcity[…]": they count anywhere in a line). Characters that draw nothing do
// not hide a command, since a runner may compare as people read. A Writer is safe
// for concurrent use.
type Writer struct {
	io.Writer
	// Commands lets lines begin with a colon: the text contains commands on purpose,
	// and every other text in it is one line.
	Commands bool

	mu     sync.Mutex
	cut    []byte // the beginning of a character whose end is in the next write
	colon  bool   // all that the line shows is a colon
	inside bool   // the line shows more than that
	hashes int    // how many number signs came last
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.cut, b...)
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		out = w.add(out, r)
	}
	w.cut = append([]byte(nil), text...)
	if _, err := w.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// add appends what represents r.
func (w *Writer) add(out []byte, r rune) []byte {
	switch {
	case r == '\n':
		w.colon, w.inside, w.hashes = false, false, 0
		return append(out, '\n')
	case r != '\t' && Unsafe(r):
		w.inside, w.hashes = true, 0
		return fmt.Appendf(out, `\u{%X}`, r)
	case unicode.IsSpace(r):
		w.hashes = 0
		return utf8.AppendRune(out, r)
	case !unicode.IsGraphic(r) || unicode.Is(unicode.Mn, r):
		return utf8.AppendRune(out, r)
	case r == '#':
		w.inside = true
		w.hashes++
		return append(out, '#')
	case r == ':' && !w.inside && !w.colon && !w.Commands:
		w.colon = true
		return append(out, ':')
	case r == ':' && !w.inside && !w.Commands,
		w.hashes >= 2 && (r == '[' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
		out = append(out, '\\')
	}
	w.inside, w.hashes = true, 0
	return utf8.AppendRune(out, r) // U+FFFD for what is not UTF-8
}

// Inert returns s as a Writer writes it.
func Inert(s string) string {
	var b strings.Builder
	w := Writer{Writer: &b}
	_, _ = io.WriteString(&w, s)
	if len(w.cut) > 0 {
		b.WriteRune(utf8.RuneError)
	}
	return b.String()
}
