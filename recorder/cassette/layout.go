package cassette

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// DecodeContent reads exactly what Encode lays out before the checksum, without a YAML parser: a
// cassette is then read in a few microseconds. Anything else is not ok and is
// left to readYAML, so the two never disagree about a file both read.
func DecodeContent(content string) (*Data, bool) {
	if !printable(content) {
		return nil, false
	}
	l := &layout{rest: content}
	t := &Data{}
	l.want("---\nversion: 1\ncupel:\n  format: 1\n")
	l.header(&t.Header)
	l.want("interactions:\n")
	for l.has("- request:\n") {
		t.Interactions = append(t.Interactions, Interaction{})
		l.interaction(&t.Interactions[len(t.Interactions)-1])
	}
	return t, !l.bad && l.rest == ""
}

// layout is the unread rest. Once bad, it stays bad.
type layout struct {
	rest string
	bad  bool
}

// has consumes s if the rest begins with it.
func (l *layout) has(s string) bool {
	rest, ok := strings.CutPrefix(l.rest, s)
	if ok && !l.bad {
		l.rest = rest
		return true
	}
	return false
}

func (l *layout) want(s string) {
	if !l.has(s) {
		l.bad = true
	}
}

// line consumes the rest of the line and its newline.
func (l *layout) line() string {
	s, rest, ok := strings.Cut(l.rest, "\n")
	if !ok || l.bad {
		l.bad = true
		return ""
	}
	l.rest = rest
	return s
}

func (l *layout) header(h *Header) {
	for _, f := range h.texts() {
		if l.has("  " + f.name + ": ") {
			*f.value = l.quoted()
			l.want("\n")
		}
	}
	if l.has("  trial: ") {
		h.Trial = int(l.number(l.line()))
	}
	h.Simulated = l.has("  simulated: true\n")
	if !l.has("  digests:\n") {
		return
	}
	h.Digests = map[string]string{}
	for l.has("    ") {
		name := l.quoted()
		l.want(": ")
		if _, twice := h.Digests[name]; twice {
			l.bad = true
		}
		h.Digests[name] = l.quoted()
		l.want("\n")
	}
}

func (l *layout) interaction(it *Interaction) {
	l.want("    body: ")
	it.Request.Body = l.body()
	l.want("    form: {}\n    headers:")
	it.Request.Headers = l.headers()
	l.want("    url: ")
	it.Request.URL = l.quoted()
	l.want("\n    method: ")
	it.Request.Method = l.quoted()
	l.want("\n  response:\n    body: ")
	it.Response.Body = l.body()
	l.want("    headers:")
	it.Response.Headers = l.headers()
	l.want("    status: ")
	it.Response.Status = l.quoted()
	l.want("\n    code: ")
	it.Response.Code = int(l.number(l.line()))
	l.want("    duration: ")
	it.Response.Duration = l.duration(l.line())
	l.want("  cupel:\n    digest: ")
	it.Digest = l.quoted()
	l.want("\n    first_byte: ")
	it.FirstByte = time.Duration(l.number(l.line())) * time.Microsecond
	l.want("    frames: [")
	it.Reads = l.reads(l.line())
	it.ClosedEarly = l.has("    closed_early: true\n")
	if l.has("    failed: ") {
		it.Failure = l.quoted()
		l.want("\n")
	}
	it.TimedOut = l.has("    timed_out: true\n")
	if l.has("    role: ") {
		it.Role = l.quoted()
		l.want("\n")
	}
}

// number reads a decimal as encode writes it.
func (l *layout) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || len(s) > 1 && s[0] == '0' || s[0] == '+' {
		l.bad = true
	}
	return n
}

func (l *layout) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil || d.String() != s {
		l.bad = true
	}
	return d
}

// reads reads the rest of a line such as "[5, 120], [7, 80]]".
func (l *layout) reads(s string) []BodyRead {
	s, ok := strings.CutSuffix(s, "]")
	if !ok {
		l.bad = true
	}
	if s == "" {
		return nil
	}
	reads := make([]BodyRead, 0, strings.Count(s, "["))
	for more := true; more && !l.bad; {
		var pair string
		pair, s, more = strings.Cut(s, "], [")
		if len(reads) > 0 {
			pair = "[" + pair
		}
		if more {
			pair += "]"
		}
		inside, okay := strings.CutSuffix(strings.TrimPrefix(pair, "["), "]")
		bytes, micros, both := strings.Cut(inside, ", ")
		if !okay || !both || pair[0] != '[' {
			l.bad = true
			break
		}
		reads = append(reads, BodyRead{int(l.number(bytes)), l.number(micros)})
	}
	return reads
}

func (l *layout) headers() http.Header {
	h := http.Header{}
	if l.has(" {}\n") {
		return h
	}
	l.want("\n")
	for l.has("      ") {
		name := l.quoted()
		l.want(":\n")
		if _, twice := h[name]; twice {
			l.bad = true
		}
		for l.has("      - ") {
			h[name] = append(h[name], l.quoted())
			l.want("\n")
		}
		if h[name] == nil {
			l.bad = true
		}
	}
	return h
}

// body reads what writer.body writes.
func (l *layout) body() string {
	if strings.HasPrefix(l.rest, `"`) {
		s := l.quoted()
		l.want("\n")
		return s
	}
	if l.has("!!binary |-\n") {
		return l.base64(l.block())
	}
	l.want("|")
	stated := l.has("2")
	chomp := byte(0)
	for _, c := range []byte("-+") {
		if l.has(string(c)) {
			chomp = c
			break
		}
	}
	l.want("\n")
	s := l.block()
	ends := len(s) - len(strings.TrimRight(s, "\n"))
	blank := s == "" || s[0] == ' ' || s[0] == '\t' || s[0] == '\n'
	if blank && !stated || ends == len(s) || chomp != '+' && ends != 1 {
		l.bad = true
		return ""
	}
	if chomp == '-' {
		s = s[:len(s)-1]
	}
	return s
}

// block reads the lines of a literal block, without their indentation.
func (l *layout) block() string {
	if l.bad {
		return ""
	}
	size, lines, end := 0, 0, 0
	for end < len(l.rest) {
		n := strings.IndexByte(l.rest[end:], '\n') + 1
		switch line := l.rest[end : end+n]; {
		case line == "\n":
			size++
		case strings.HasPrefix(line, bodyIndent) && len(line) > len(bodyIndent)+1:
			size += n - len(bodyIndent)
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		end += n
		lines++
	}
	text := l.rest[:end]
	l.rest = l.rest[end:]
	if lines == 1 {
		return strings.TrimPrefix(text, bodyIndent)
	}
	var b strings.Builder
	b.Grow(size)
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(line, bodyIndent))
	}
	return b.String()
}

func (l *layout) base64(s string) string {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) == 0 {
		l.bad = true
	}
	return string(b)
}

// quoted reads what quoted and foldedLines write.
func (l *layout) quoted() string {
	binary := l.has("!!binary ")
	l.want(`"`)
	n := strings.IndexAny(l.rest, "\"\\\n")
	if l.bad || n < 0 || l.rest[n] == '\n' {
		l.bad = true
		return ""
	}
	if l.rest[n] == '\\' {
		if s := l.unescape(n); !binary {
			return s
		}
		l.bad = true
		return ""
	}
	s := l.rest[:n]
	l.rest = l.rest[n+1:]
	if binary {
		return l.base64(s)
	}
	return s
}

// unescape reads on to the closing quote; the first n bytes have no escape.
func (l *layout) unescape(n int) string {
	b := append(make([]byte, 0, 2*n+64), l.rest[:n]...)
	l.rest = l.rest[n:]
	for {
		n := strings.IndexAny(l.rest, "\"\\\n")
		if n < 0 || l.rest[n] == '\n' {
			l.bad = true
			return ""
		}
		b = append(b, l.rest[:n]...)
		end := l.rest[n] == '"'
		l.rest = l.rest[n+1:]
		if end {
			return string(b)
		}
		if b = l.escape(b); l.bad {
			return ""
		}
	}
}

// escape appends the value of the escape after a backslash.
func (l *layout) escape(b []byte) []byte {
	if l.rest == "" {
		l.bad = true
		return b
	}
	c := l.rest[0]
	l.rest = l.rest[1:]
	switch c {
	case '\\', '"', ' ':
		return append(b, c)
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case '\n': // the line continues below
		l.want(bodyIndent)
		if strings.HasPrefix(l.rest, " ") || strings.HasPrefix(l.rest, "\t") {
			l.bad = true
		}
		return b
	case 'x':
		return l.hex(b, 2)
	case 'u':
		return l.hex(b, 4)
	}
	l.bad = true
	return b
}

func (l *layout) hex(b []byte, digits int) []byte {
	if len(l.rest) < digits {
		l.bad = true
		return b
	}
	c, err := strconv.ParseUint(l.rest[:digits], 16, 32)
	l.rest = l.rest[digits:]
	if err != nil || c >= 0xd800 && c < 0xe000 {
		l.bad = true
		return b
	}
	return utf8.AppendRune(b, rune(c))
}
