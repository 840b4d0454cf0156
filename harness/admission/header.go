package admission

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxPause bounds a pause that a header asks for.
	maxPause = 2 * time.Minute
	// maxHeader bounds what is read of a header, in bytes.
	maxHeader = 1024
)

// allowance is what a provider says is left of a limit, and until when.
type allowance struct {
	left   float64
	reset  time.Duration
	tokens bool // of tokens; else of requests
}

// rateHeaders are pairs of headers: what is left, and when it is full again.
var rateHeaders = [...]struct {
	left, reset string
	tokens      bool
}{
	// OpenAI and its likes, Azure.
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", false},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", true},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset", false},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset", true},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset", true},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset", true},
	{"X-Ratelimit-Remaining", "X-Ratelimit-Reset", false},
	{"Ratelimit-Remaining", "Ratelimit-Reset", false},
}

// Header takes the rate headers of any reply: with nothing left the lane pauses
// until there is, two minutes at most; with less left than may be in flight,
// requests are spread over the time. Headers without a time say nothing.
func (l *Lane) Header(h http.Header) {
	list := allowances(h, l.control.now)
	if len(list) == 0 {
		return
	}
	c := l.control
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	var gap, span time.Duration
	for _, a := range list {
		if a.left == 0 {
			l.pause(a.reset, Header, now)
			continue
		}
		requests := a.left
		if a.tokens {
			if l.typical == 0 {
				continue
			}
			requests = max(1, math.Floor(a.left/l.typical))
		}
		if g := time.Duration(float64(a.reset) / requests); requests < l.limit && g > gap {
			gap, span = g, a.reset
		}
	}
	if gap > 0 && !now.Before(l.spread) {
		l.changed(now, Header, now.Add(span), gap)
	}
	l.gap, l.spread = gap, now.Add(span)
	c.serve(now)
}

// allowances reads what the headers say that have a time.
func allowances(h http.Header, now func() time.Time) []allowance {
	var list []allowance
	for _, names := range rateHeaders {
		left, ok := readCount(h.Get(names.left))
		if !ok {
			continue
		}
		if reset, ok := readReset(h.Get(names.reset), h, now); ok {
			list = append(list, allowance{left, reset, names.tokens})
		}
	}
	return readRateLimit(list, h.Get("Ratelimit"), h.Get("Ratelimit-Policy"))
}

// readRateLimit reads the RateLimit header of the IETF's drafts: a list of
// "name";r=LEFT;t=SECONDS, or limit=N, remaining=LEFT, reset=SECONDS. A window
// that the policy tells stands in for a missing t.
func readRateLimit(list []allowance, text, policy string) []allowance {
	if text == "" || len(text) > maxHeader || len(policy) > maxHeader {
		return list
	}
	windows := map[string]string{}
	for item := range strings.SplitSeq(policy, ",") {
		name, fields := fieldsOf(item, ";")
		windows[name] = fields["w"]
	}
	add := func(left, reset string) {
		n, ok := readCount(left)
		seconds, timed := readCount(reset)
		if d := fromSeconds(seconds); ok && timed && d > 0 {
			list = append(list, allowance{left: n, reset: d})
		}
	}
	if _, fields := fieldsOf(text, ","); fields["remaining"] != "" {
		add(fields["remaining"], fields["reset"])
		return list
	}
	for item := range strings.SplitSeq(text, ",") {
		name, fields := fieldsOf(item, ";")
		reset := fields["t"]
		if reset == "" {
			reset = windows[name]
		}
		add(fields["r"], reset)
	}
	return list
}

// fieldsOf splits an item into the part without an equals sign and its fields.
func fieldsOf(item, separator string) (name string, fields map[string]string) {
	fields = map[string]string{}
	for part := range strings.SplitSeq(item, separator) {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if ok {
			fields[strings.ToLower(key)] = strings.TrimSpace(value)
		} else {
			name = key
		}
	}
	return name, fields
}

// readCount reads a number of 0 or more. A fraction counts as none: it is not enough
// for a request.
func readCount(s string) (float64, bool) {
	if len(s) > 32 {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return math.Floor(n), err == nil && n >= 0 && n < 1e15
}

// readReset reads how long it takes until a limit is full again, at most maxPause:
// seconds, a duration such as 6m0s, or a time: seconds or milliseconds since 1970,
// RFC 3339, or as in HTTP. Times count from the reply's own Date, so that clocks
// need not agree. 0 and less is no time.
func readReset(s string, h http.Header, now func() time.Time) (time.Duration, bool) {
	if s = strings.TrimSpace(s); s == "" || len(s) > 64 {
		return 0, false
	}
	var at time.Time
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case !(n > 0 && n < 1e15):
			return 0, false
		case n >= 1e11:
			at = time.UnixMilli(int64(n))
		case n >= 1e9:
			at = time.Unix(int64(n), 0)
		default:
			return fromSeconds(n), true
		}
	} else if d, err := time.ParseDuration(s); err == nil {
		return min(d, maxPause), d > 0
	} else if t, err := time.Parse(time.RFC3339, s); err == nil {
		at = t
	} else if t, err := http.ParseTime(s); err == nil {
		at = t
	} else {
		return 0, false
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	d := at.Sub(from)
	return min(d, maxPause), d > 0
}

// fromSeconds makes seconds a time of at most maxPause.
func fromSeconds(n float64) time.Duration {
	return time.Duration(min(n, maxPause.Seconds()) * float64(time.Second))
}
