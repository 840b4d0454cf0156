package cassette

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// bodyIndent is the column of a literal body: two beyond its key's.
const bodyIndent = "      "

// Encode returns a cassette as a sealed file. Equal data gives equal bytes.
func Encode(t *Data) []byte {
	w := &writer{}
	w.put("---\nversion: 1\ncupel:\n  format: 1\n")
	w.header(t.Header)
	w.put("interactions:\n")
	for i := range t.Interactions {
		w.interaction(&t.Interactions[i])
	}
	return checksum.Append(w.b)
}

type writer struct{ b []byte }

func (w *writer) put(parts ...string) {
	for _, s := range parts {
		w.b = append(w.b, s...)
	}
}

func (w *writer) header(h Header) {
	for _, f := range h.texts() {
		if *f.value != "" {
			w.put("  ", f.name, ": ", quoted(*f.value), "\n")
		}
	}
	if h.Trial != 0 {
		w.put("  trial: ", strconv.Itoa(h.Trial), "\n")
	}
	if h.Simulated {
		w.put("  simulated: true\n")
	}
	if len(h.Digests) == 0 {
		return
	}
	w.put("  digests:\n")
	for _, name := range slices.Sorted(maps.Keys(h.Digests)) {
		w.put("    ", quoted(name), ": ", quoted(h.Digests[name]), "\n")
	}
}

// headerText is one text of a Header, by its name in the file.
type headerText struct {
	name  string
	value *string
}

// texts lists the texts of a header in the order of the file.
func (h *Header) texts() []headerText {
	return []headerText{
		{"suite", &h.Suite}, {"task", &h.Task}, {"candidate", &h.Candidate}, {"provider", &h.Provider},
		{"model", &h.Model}, {"recorded", &h.Recorded}, {"adapter", &h.Adapter},
		{"fork", &h.Fork}, {"fork_recorded", &h.ForkRecorded},
	}
}

func (w *writer) interaction(it *Interaction) {
	w.put("- request:\n    body: ")
	w.body(it.Request.Body)
	w.put("    form: {}\n    headers:")
	w.headers(it.Request.Headers)
	w.put("    url: ", quoted(it.Request.URL), "\n    method: ", quoted(it.Request.Method), "\n")
	w.put("  response:\n    body: ")
	w.body(it.Response.Body)
	w.put("    headers:")
	w.headers(it.Response.Headers)
	w.put("    status: ", quoted(it.Response.Status), "\n    code: ", strconv.Itoa(it.Response.Code), "\n")
	w.put("    duration: ", it.Response.Duration.String(), "\n")
	w.put("  cupel:\n    digest: ", quoted(it.Digest), "\n")
	w.put("    first_byte: ", strconv.FormatInt(int64(it.FirstByte/time.Microsecond), 10), "\n    frames: [")
	for i, f := range it.Reads {
		if i > 0 {
			w.put(", ")
		}
		w.b = fmt.Appendf(w.b, "[%d, %d]", f.Bytes, f.Micros)
	}
	w.put("]\n")
	if it.ClosedEarly {
		w.put("    closed_early: true\n")
	}
	if it.Failure != "" {
		w.put("    failed: ", quoted(it.Failure), "\n")
	}
	if it.TimedOut {
		w.put("    timed_out: true\n")
	}
	if it.Role != "" {
		w.put("    role: ", quoted(it.Role), "\n")
	}
}

func (w *writer) headers(h http.Header) {
	if len(h) == 0 {
		w.put(" {}\n")
		return
	}
	w.put("\n")
	for _, name := range slices.Sorted(maps.Keys(h)) {
		w.put("      ", quoted(name), ":\n")
		for _, v := range h[name] {
			w.put("      - ", quoted(v), "\n")
		}
	}
}

// body writes a body so that it can be reviewed line by line and read back byte for byte:
// as a literal block if every character survives one, otherwise quoted with a line per
// line, and in base64 if it is not text.
func (w *writer) body(s string) {
	switch {
	case !utf8.ValidString(s):
		w.put("!!binary |-\n")
		code := base64.StdEncoding.EncodeToString([]byte(s))
		for line := range slices.Chunk([]byte(code), 76) {
			w.put(bodyIndent, string(line), "\n")
		}
	case printable(s) && strings.Trim(s, "\n") != "":
		w.literal(s)
	default:
		w.put(`"`, strings.Join(foldedLines(s), "\\\n"+bodyIndent), "\"\n")
	}
}

// literal writes a block scalar. s must contain something besides newlines.
func (w *writer) literal(s string) {
	w.put("|")
	if c := s[0]; c == ' ' || c == '\t' || c == '\n' {
		w.put("2") // otherwise the first line would hide the indentation
	}
	switch {
	case !strings.HasSuffix(s, "\n"):
		w.put("-")
		s += "\n"
	case strings.HasSuffix(s, "\n\n"):
		w.put("+")
	}
	w.put("\n")
	for line := range strings.Lines(s) {
		if line != "\n" {
			w.put(bodyIndent)
		}
		w.put(line)
	}
}

// foldedLines escapes s for double quotes, cut after every newline. It escapes a line's
// leading blank, which would otherwise be read as indentation.
func foldedLines(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		text := escaped(line)
		if len(lines) > 0 && strings.HasPrefix(text, " ") {
			text = `\` + text
		}
		lines = append(lines, text)
	}
	return lines
}

// quoted returns s as a YAML scalar on one line.
func quoted(s string) string {
	if !utf8.ValidString(s) {
		return `!!binary "` + base64.StdEncoding.EncodeToString([]byte(s)) + `"`
	}
	return `"` + escaped(s) + `"`
}

// escaped returns valid UTF-8 as the inside of a YAML double-quoted scalar.
func escaped(s string) string {
	b := make([]byte, 0, len(s)+8)
	for _, c := range s {
		switch {
		case c == '\\' || c == '"':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case plain(c):
			b = utf8.AppendRune(b, c)
		case c < 0x100:
			b = fmt.Appendf(b, `\x%02X`, c)
		default: // other characters are in the basic plane
			b = fmt.Appendf(b, `\u%04X`, c)
		}
	}
	return string(b)
}

// printable reports whether s is unchanged by YAML. Line breaks other than \n are not,
// because YAML turns them into \n.
func printable(s string) bool {
	for i := 0; i < len(s); {
		if len(s)-i >= 8 && plainASCII(s[i:i+8]) {
			i += 8
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		if size == 1 || !plain(c) {
			return false
		}
		i += size
	}
	return true
}

// plainASCII reports whether eight bytes are all from ' ' to '~', in parallel: none has its
// high bit set, loses it if ' ' is subtracted, or gets it if one more is added.
func plainASCII(s string) bool {
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (x|(x-0x2020202020202020)|(x+0x0101010101010101))&0x8080808080808080 == 0
}

// plain reports whether c can be unescaped in a YAML scalar.
func plain(c rune) bool {
	switch c {
	case '\u2028', '\u2029', '\uFEFF', '\uFFFE', '\uFFFF':
		return false
	}
	return c >= ' ' && c < 0x7f || c >= 0xa0
}
