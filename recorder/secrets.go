package recorder

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// minSecret is the length below which a configured secret is not looked for.
const minSecret = 8

// detector finds credentials in text: the configured ones, and whatever looks
// like one. The zero value knows the looks only.
type detector struct{ needles []string }

func newDetector(secrets []string) *detector {
	d := &detector{}
	for _, s := range secrets {
		if len(s) >= minSecret {
			// The escaped forms are views too; but a percent sign just before one
			// would hide it there.
			d.needles = append(d.needles, s, url.QueryEscape(s), url.PathEscape(s))
			d.needles = append(d.needles, base64Forms(s)...)
		}
	}
	return d
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

// pattern is the look of one kind of credential. hint is in every match: it
// spares most texts the expression.
type pattern struct {
	kind, hint string
	look       *regexp.Regexp
}

// patterns lists the known kinds; they are compiled on first use.
var patterns = sync.OnceValue(func() []pattern {
	return []pattern{
		{"an API key (sk-…)", "sk-", regexp.MustCompile(`\bsk-[\w-]{20,}`)},
		{"an AWS access key id (AKIA…)", "AKIA", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
		{"an AWS access key id (ASIA…)", "ASIA", regexp.MustCompile(`\bASIA[0-9A-Z]{16}\b`)},
		{"a Google API key (AIza…)", "AIza", regexp.MustCompile(`\bAIza[\w-]{35}`)},
		{"a Google access token (ya29.…)", "ya29.", regexp.MustCompile(`\bya29\.[\w-]{20,}`)},
		{"a GitHub token (gh._…)", "gh", regexp.MustCompile(`\bgh[pousr]_\w{30,}`)},
		{"a GitHub token (github_pat_…)", "github_pat_", regexp.MustCompile(`\bgithub_pat_\w{30,}`)},
		{"a Hugging Face token (hf_…)", "hf_", regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
		{"a Groq key (gsk_…)", "gsk_", regexp.MustCompile(`\bgsk_[A-Za-z0-9]{30,}`)},
		{"a Slack token (xox…)", "xox", regexp.MustCompile(`\bxox[abeoprs]-[\w-]{10,}`)},
		{"a bearer token", bearer, regexp.MustCompile(`\b[Bb]earer [\w.~+/=-]*\d[\w.~+/=-]*`)},
		{"a private key (PEM)", "PRIVATE KEY", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	}
})

const bearer = "earer "

// minBearer is the length from which what follows "Bearer " is a token: prose
// and documentation have short words there.
const minBearer = len("Bearer ") + 20

// find says what kind of credential s holds, "" for none: as it stands, in
// base64, percent-encoded, or JSON-escaped, also several times over.
func (d *detector) find(s string) string {
	for _, view := range views(s) {
		for _, n := range d.needles {
			if strings.Contains(view, n) {
				return "a configured secret"
			}
		}
		for _, p := range patterns() {
			if !strings.Contains(view, p.hint) {
				continue
			}
			for _, m := range p.look.FindAllString(view, -1) {
				if p.hint != bearer || len(m) >= minBearer {
					return p.kind
				}
			}
		}
	}
	return ""
}

// maxUnwrap is how many layers of JSON escapes are taken off: a tool call's
// arguments in a streamed event are two deep.
const maxUnwrap = 4

// views returns s and what it says beneath its escapes.
func views(s string) []string {
	all := []string{s}
	for depth := 0; depth < maxUnwrap && strings.Contains(s, `\`); depth++ {
		s = unescapeJSON(s)
		all = append(all, s)
	}
	for _, v := range all {
		if strings.Contains(v, "%") {
			all = append(all, unescapePercent(v))
		}
		if strings.Contains(v, "+") { // a space, in a query
			all = append(all, unescapePercent(strings.ReplaceAll(v, "+", " ")))
		}
	}
	return all
}

// unescapeJSON undoes every JSON escape in s, wherever it stands.
func unescapeJSON(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if k := strings.IndexByte("bfnrt", s[i]); k >= 0 {
			b = append(b, "\b\f\n\r\t"[k])
			continue
		}
		if s[i] == 'u' && i+4 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+5], 16, 16); err == nil {
				b = utf8.AppendRune(b, rune(c))
				i += 4
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// unescapePercent undoes every percent escape in s, wherever it stands.
func unescapePercent(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// streamed returns the texts that a stream of JSON events spells piece by
// piece: the strings at the same place of successive events, joined. A
// credential cut in two by the stream is whole in there.
func streamed(body string) []string {
	joined := map[string]*strings.Builder{}
	var order []string
	for line := range strings.Lines(body) {
		event := strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		if !strings.HasPrefix(event, "{") {
			continue
		}
		d := jsontext.NewDecoder(strings.NewReader(event))
		for {
			token, err := d.ReadToken()
			if err != nil {
				break
			}
			in, n := d.StackIndex(d.StackDepth())
			if token.Kind() != '"' || in == '{' && n%2 == 1 { // not a string, or a member's name
				continue
			}
			at := string(d.StackPointer())
			if joined[at] == nil {
				joined[at] = &strings.Builder{}
				order = append(order, at)
			}
			joined[at].WriteString(token.String())
		}
	}
	texts := make([]string, len(order))
	for i, at := range order {
		texts[i] = joined[at].String()
	}
	return texts
}

// findIn says which field of an interaction holds what kind of credential.
func (d *detector) findIn(it *interaction) (field, kind string) {
	for _, f := range []struct{ name, text string }{
		{"request.url", it.Request.URL}, {"request.method", it.Request.Method},
		{"request.body", it.Request.Body}, {"response.status", it.Response.Status},
		{"response.body", it.Response.Body}, {"failed", it.failure},
	} {
		if kind := d.find(f.text); kind != "" {
			return f.name, kind
		}
	}
	for _, side := range []struct {
		name    string
		headers http.Header
	}{{"request.headers", it.Request.Headers}, {"response.headers", it.Response.Headers}} {
		for _, name := range slices.Sorted(maps.Keys(side.headers)) {
			if kind := d.find(name); kind != "" {
				return side.name, kind
			}
			if kind := d.find(strings.Join(side.headers[name], "\n")); kind != "" {
				return side.name + "." + name, kind
			}
		}
	}
	for _, text := range streamed(it.Response.Body) {
		if kind := d.find(text); kind != "" {
			return "response.body (in pieces)", kind
		}
	}
	return "", ""
}
