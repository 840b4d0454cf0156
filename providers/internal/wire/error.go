package wire

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Bounds of what an error quotes, in runes.
const (
	maxMessage = 300
	maxCode    = 80
	maxID      = 200
)

// fault turns the provider's error into a typed error. A fault in the
// body of a 200 may name the status it means.
func (c *Client) fault(a response, model string, f Fault) *fault.Error {
	f.Status, f.Header = a.Status, a.Header
	if n, err := strconv.Atoi(f.Code); err == nil && a.Status < 300 && n >= 400 && n <= 599 {
		f.Status = n
	}
	kind := cmp.Or(c.dialect.Kind(f), KindOfStatus(f.Status))
	if f.Message == "" && f.Type == "" && f.Code == "" {
		f.Message = "no explanation: the body is empty or of an unknown form"
	}
	if a.Status >= 300 && a.Status < 400 {
		f.Message = "the address redirects elsewhere and redirects are not followed: check the base URL"
	}
	e := c.Error(a, model, kind, f.Message, nil)
	e.Code = c.bounded(cmp.Or(f.Code, f.Type), maxCode)
	e.RequestID = cmp.Or(a.RequestID, c.bounded(f.RequestID, maxID))
	e.RetryAfter = cmp.Or(retryAfter(a.Header), min(f.RetryAfter, maxRetryAfter))
	e.Permanent = f.Permanent || strings.EqualFold(a.Header.Get("X-Should-Retry"), "false")
	return e
}

// Error makes an error of this provider. The message is made one line of at
// most 300 runes; the key appears neither in it nor in the text of cause.
func (c *Client) Error(a response, model string, kind fault.Kind, message string, cause error) *fault.Error {
	return &fault.Error{
		Kind: kind, Provider: c.provider, Model: model, Status: a.Status,
		Message: c.bounded(message, maxMessage), RequestID: a.RequestID, Err: c.withoutKey(cause),
	}
}

// bounded makes s one printable line without the key, of at most n runes.
func (c *Client) bounded(s string, n int) string {
	s = c.scrub(s) // before the cut, which could halve the key
	if len(s) <= n && plainASCII(s) {
		return s
	}
	if len(s) > 64<<10 {
		s = s[:64<<10]
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			space = b.Len() > 0
			continue
		case !unicode.IsGraphic(r) || invisible.Rune(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return clip.Fit(c.scrub(b.String()), n) // scrubbed again: invisible characters are gone
}

// plainASCII reports whether s is one printable line without spaces, as ids are.
func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

const (
	// minKey is the length in bytes below which a key is a placeholder, such as "k" or
	// "EMPTY": it is a part of ordinary words. It is that of recorder/secrets.
	minKey = 8
	// hiddenKey replaces the key.
	hiddenKey = "[key]"
)

// scrub replaces the key, plain and as a query value, in one pass over s. Within
// what an earlier call put there nothing is replaced.
func (c *Client) scrub(s string) string {
	if len(c.key) < minKey {
		return s
	}
	escaped := url.QueryEscape(c.key)
	if !strings.Contains(s, c.key) && !strings.Contains(s, escaped) {
		return s
	}
	keys := strings.NewReplacer(escaped, hiddenKey, c.key, hiddenKey) // the longer one first
	parts := strings.Split(s, hiddenKey)
	for i, part := range parts {
		parts[i] = keys.Replace(part)
	}
	return strings.Join(parts, hiddenKey)
}

// withoutKey returns err, or err with the key cut out of its text.
func (c *Client) withoutKey(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := c.scrub(text); clean != text {
		return &scrubbed{text: clean, err: err}
	}
	return err
}

// scrubbed is an error whose text has been cleaned; the chain stays whole.
type scrubbed struct {
	text string
	err  error
}

func (s *scrubbed) Error() string { return s.text }
func (s *scrubbed) Unwrap() error { return s.err }

// maxRetryAfter bounds advice on when to come back.
const maxRetryAfter = 7 * 24 * time.Hour

// retryAfter reads the provider's advice: milliseconds, seconds or a date. A
// date counts from the reply's own Date header, so that a replay agrees with
// the recording. 0 means no advice, or none that makes sense.
func retryAfter(h http.Header) time.Duration {
	if d := seconds(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	value := h.Get("Retry-After")
	if d := seconds(value, time.Second); d > 0 {
		return d
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, min(until.Sub(from), maxRetryAfter))
}

// seconds reads a decimal count of units.
func seconds(value string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter)))
}
