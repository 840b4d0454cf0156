package admission

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxPause bounds the delay of a request due to headers.
	maxPause = 2 * time.Minute
	// maxReset bounds the time read from a header.
	maxReset = 30 * 24 * time.Hour
	// maxHeader bounds the part of a header that is read, in bytes.
	maxHeader = 1024
)

// allowance is the rest of a limit that a provider states, and its end.
type allowance struct {
	kind  kind
	left  float64
	reset time.Duration
	// refills means that the limit refills continuously, up to limit (0 if not stated), and is
	// full after reset. Otherwise the whole limit is available again after reset, and not
	// before.
	refills bool
	limit   float64
}

// convention is the way in which a provider's limits are restored.
type convention int

const (
	// window is a limit that is restored at the end of a window.
	window convention = iota
	// fullIn and fullAt are those of a limit that refills all the time: the header has
	// the time that this takes (OpenAI: "the time until the rate limit resets to its
	// initial state"), or the date when it will be full (Anthropic: "will be fully
	// replenished").
	fullIn
	fullAt
)

// rateHeaders are the headers of a limit: its size, its rest and the time when it is full.
var rateHeaders = [...]struct {
	limit, left, reset string
	kind               kind
	convention         convention
}{
	// OpenAI, Groq, Azure and others.
	{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", ofRequests, fullIn},
	{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens", ofMost, fullIn},
	{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset", ofRequests, fullAt},
	{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset", ofUsed, fullAt},
	{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset", ofInput, fullAt},
	{"Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset", ofOutput, fullAt},
	// OpenRouter and others.
	{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", ofRequests, window},
	{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", ofRequests, window},
}

// Header applies the rate headers of the reply to the request. If a limit refills
// continuously, a request waits until its need is available. If a limit ends with a window
// and is used up, the lane pauses until then; if less is left than may be in flight,
// requests are spread over the window. Headers delay no request by more than two minutes,
// and Retry-After takes precedence: see Done. Headers without a time, and those of a
// request sent before one that was already answered, are ignored.
func (p *Permit) Header(h http.Header) {
	l := p.lane
	c := l.control
	list := allowances(h, c.now)
	if len(list) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.advised = h.Get("Retry-After") != "" || h.Get("Retry-After-Ms") != ""
	for _, a := range list {
		if a.refills {
			l.stated.see(a, p.need[a.kind])
		}
	}
	if p.number <= l.heard {
		return
	}
	l.heard = p.number
	now := c.now()
	var later amounts
	for _, q := range l.inFlight {
		if q.number > p.number {
			later = later.plus(q.need)
		}
	}
	for _, a := range list {
		if a.refills {
			l.stated.state(a, p.need[a.kind], later[a.kind], p.sentAt, now)
		}
		if a.left < p.need[a.kind] {
			p.reset = max(p.reset, min(a.reset, maxPause))
		}
	}
	l.stated.window(list, l.limit, now)
	l.stated.until = now.Add(maxPause)
	l.tellStated(p, now)
	c.serve(now)
}

// tellStated reports once per slowdown that replies slow the lane down.
func (l *Lane) tellStated(p *Permit, now time.Time) {
	until, gap := l.stated.slowed(p.need, now)
	if announced := l.stated.announced; until.After(now) && (!now.Before(announced) || gap == 0 && until.Sub(announced) > time.Second) {
		l.stated.announced = until
		l.changed(now, Header, until, gap)
	}
}

// allowances reads the headers that have a time.
func allowances(h http.Header, now func() time.Time) []allowance {
	var list []allowance
	for _, names := range rateHeaders {
		left, ok := readCount(h.Get(names.left))
		if !ok {
			continue
		}
		reset, form, ok := readReset(h.Get(names.reset), h, now)
		if !ok {
			continue
		}
		a := allowance{kind: names.kind, left: left, reset: reset, refills: names.convention != window && names.convention == form}
		if a.refills {
			a.limit, _ = readCount(h.Get(names.limit)) // 0 if not stated
		}
		list = append(list, a)
	}
	return readRateLimit(list, h.Get("Ratelimit"), h.Get("Ratelimit-Policy"))
}

// readRateLimit reads the RateLimit header of the IETF's drafts: a list of
// "name";r=LEFT;t=SECONDS, or limit=N, remaining=LEFT, reset=SECONDS. A window in the
// policy replaces a missing t.
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
		add(fields["r"], cmp.Or(fields["t"], windows[name]))
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

// readCount reads a number of at least 0. A fraction below 1 counts as 0, because it is not
// enough for a request.
func readCount(s string) (float64, bool) {
	if len(s) > 32 {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return math.Floor(n), err == nil && n >= 0 && n < 1e15
}

// readReset reads the time until a limit is full again, at most maxReset: seconds, a
// duration such as 6m0s, or a time as seconds or milliseconds since 1970, RFC 3339 or an
// HTTP date. Times are relative to the reply's Date, so that clocks need not agree. Values
// up to 0 are not a time. form is the convention that goes with the notation.
func readReset(s string, h http.Header, now func() time.Time) (reset time.Duration, form convention, ok bool) {
	if s = strings.TrimSpace(s); s == "" || len(s) > 64 {
		return 0, window, false
	}
	var at time.Time
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case !(n > 0 && n < 1e15):
			return 0, window, false
		case n >= 1e11:
			at = time.UnixMilli(int64(n))
		case n >= 1e9:
			at = time.Unix(int64(n), 0)
		default:
			return fromSeconds(n), fullIn, true
		}
	} else if d, err := time.ParseDuration(s); err == nil {
		return min(d, maxReset), fullIn, d > 0
	} else if t, err := time.Parse(time.RFC3339, s); err == nil {
		at, form = t, fullAt
	} else if t, err := http.ParseTime(s); err == nil {
		at = t
	} else {
		return 0, window, false
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = now()
	}
	d := at.Sub(from)
	return min(d, maxReset), form, d > 0
}

// fromSeconds converts seconds to a duration of at most maxReset.
func fromSeconds(n float64) time.Duration {
	return time.Duration(min(n, maxReset.Seconds()) * float64(time.Second))
}
