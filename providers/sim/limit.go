package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// rates are what Config.Limit asks for: how many requests and tokens come back in a
// minute, 0 without a limit, and how many requests there are at most.
type rates struct{ rpm, tpm, burst float64 }

// maxRate bounds each of them.
const maxRate = 1e9

// parseLimit reads "rpm=N,tpm=N,burst=N" in any order. Without burst there are a minute's worth of requests.
func parseLimit(spec string) (r rates, err error) {
	if strings.TrimSpace(spec) == "" {
		return r, nil
	}
	fields := map[string]*float64{"rpm": &r.rpm, "tpm": &r.tpm, "burst": &r.burst}
	for item := range strings.SplitSeq(spec, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		field, ok := fields[name]
		if !ok {
			return r, fmt.Errorf("sim: limit %.60q: unknown or repeated name; rpm, tpm or burst, each once, such as rpm=60,tpm=100000", name)
		}
		delete(fields, name)
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > maxRate {
			return r, fmt.Errorf("sim: limit %s: %.40q: must be a whole number from 1 to %d", name, value, int64(maxRate))
		}
		*field = float64(n)
	}
	if r.burst > 0 && r.rpm == 0 {
		return r, fmt.Errorf("sim: limit %.60q: burst is of requests; add rpm", spec)
	}
	r.burst = cmp.Or(r.burst, r.rpm)
	return r, nil
}

// tokenBucket is a limit that refills all the time; the zero value never refuses.
type tokenBucket struct {
	size, left, perSecond float64
	at                    time.Time
}

func (l *tokenBucket) fill(now time.Time) {
	if d := now.Sub(l.at).Seconds(); d > 0 {
		l.left = min(l.size, l.left+d*l.perSecond)
		l.at = now
	}
}

// until is how long it takes until n are there, or the limit is full.
func (l *tokenBucket) until(n float64) time.Duration {
	missing := min(n, l.size) - l.left
	if l.size == 0 || missing <= 1e-9*l.size {
		return 0
	}
	return time.Duration(math.Ceil(missing / l.perSecond * float64(time.Second)))
}

// account is the limits of one vendor.
type account struct{ requests, tokens tokenBucket }

// limiter refuses requests to models that come too fast, and says in the headers of every reply what is left,
// as each vendor does it. Every vendor counts by itself, and all keys together.
type limiter struct {
	rates rates
	now   func() time.Time
	next  http.Handler

	mu       sync.Mutex
	accounts map[string]*account
}

// limit puts the limits of a configuration before a handler.
func limit(cfg Config, next http.Handler) http.Handler {
	r, err := parseLimit(cfg.Limit)
	if err != nil || r == (rates{}) {
		return next
	}
	l := &limiter{rates: r, now: cfg.Now, next: next, accounts: map[string]*account{}}
	if l.now == nil {
		l.now = time.Now //nolint:forbidigo // the seam: a server's limits are in real time
	}
	return l
}

// ServeHTTP implements http.Handler.
func (l *limiter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		l.next.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody+1))
	if err != nil {
		l.next.ServeHTTP(w, r) // it fails there, in the wire's words
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	wr := wireOf(r)
	vendor := wr.vendor()
	tokens := float64((len(body) + 3) / 4)
	if vendor == "openai" || vendor == "openai-responses" {
		vendor = "openai"
		tokens += outputAsked(body)
	}
	now := l.now()
	a, wait := l.take(vendor, tokens, now)
	a.state(w.Header(), vendor, now)
	if wait > 0 {
		a.refuse(&fault{w: w, wire: wr, vendor: vendor}, wait)
		return
	}
	l.next.ServeHTTP(w, r)
}

// outputAsked is the most output that a request to OpenAI allows: it counts against the limit in advance.
func outputAsked(body []byte) float64 {
	var asked struct {
		MaxTokens           float64 `json:"max_tokens"`
		MaxCompletionTokens float64 `json:"max_completion_tokens"`
		MaxOutputTokens     float64 `json:"max_output_tokens"`
	}
	_ = json.Unmarshal(body, &asked) // what is not a request is refused by the wire
	return max(0, asked.MaxTokens, asked.MaxCompletionTokens, asked.MaxOutputTokens)
}

// take takes a request, or returns how long it takes until there is room for it. The account is a copy.
func (l *limiter) take(vendor string, tokens float64, now time.Time) (account, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[vendor]
	if a == nil {
		full := func(size, perMinute float64) tokenBucket {
			return tokenBucket{size: size, left: size, perSecond: perMinute / 60, at: now}
		}
		a = &account{full(l.rates.burst, l.rates.rpm), full(l.rates.tpm, l.rates.tpm)}
		l.accounts[vendor] = a
	}
	a.requests.fill(now)
	a.tokens.fill(now)
	wait := max(a.requests.until(1), a.tokens.until(tokens))
	if wait == 0 {
		a.requests.left--
		a.tokens.left -= tokens
	}
	return *a, wait
}

// state writes the headers that every reply has. Gemini's and those of other vendors have none.
func (a account) state(h http.Header, vendor string, now time.Time) {
	set := func(l tokenBucket, header, at string) { // header has a gap for what it tells
		if l.size > 0 {
			h.Set(fmt.Sprintf(header, "Limit"), strconv.FormatInt(int64(l.size), 10))
			h.Set(fmt.Sprintf(header, "Remaining"), strconv.FormatInt(int64(max(0, l.left)), 10))
			h.Set(fmt.Sprintf(header, "Reset"), at)
		}
	}
	switch vendor {
	case "openai":
		in := func(l tokenBucket) string { return l.until(l.size).Round(time.Millisecond).String() }
		set(a.requests, "X-Ratelimit-%s-Requests", in(a.requests))
		set(a.tokens, "X-Ratelimit-%s-Tokens", in(a.tokens))
	case "anthropic":
		at := func(l tokenBucket) string {
			full := now.Add(l.until(l.size)).UTC()
			return full.Add(time.Second - 1).Truncate(time.Second).Format(time.RFC3339)
		}
		set(a.requests, "Anthropic-Ratelimit-Requests-%s", at(a.requests))
		for _, kind := range []string{"Tokens", "Input-Tokens"} {
			set(a.tokens, "Anthropic-Ratelimit-"+kind+"-%s", at(a.tokens))
		}
		output := tokenBucket{size: a.tokens.size, left: a.tokens.size} // never limited
		set(output, "Anthropic-Ratelimit-Output-Tokens-%s", at(output))
	}
}

// refuse answers 429 as a vendor does.
func (a account) refuse(m *fault, wait time.Duration) {
	h := m.w.Header()
	h["Date"] = nil
	t := wireError{status: http.StatusTooManyRequests, kind: "rate_limit", text: "Rate limit reached, please slow down."}
	what, name, size := "requests", "RPM", a.requests.size
	if a.requests.until(1) == 0 {
		what, name, size = "tokens", "TPM", a.tokens.size
	}
	seconds := strconv.FormatInt(int64(math.Ceil(wait.Seconds())), 10)
	switch m.vendor {
	case "openai":
		h.Set("Retry-After", seconds)
		h.Set("Retry-After-Ms", strconv.FormatInt(int64(math.Ceil(wait.Seconds()*1000)), 10))
		text := fmt.Sprintf("Rate limit reached on %s per min (%s): Limit %.0f. Please try again in %v.", what, name, size, wait.Round(time.Millisecond))
		m.sendError(t.status, "application/json", encodeJSON(failOpenAI(&failure{message: text, kind: what, code: "rate_limit_exceeded"}, "")))
		return
	case "anthropic":
		h.Set("Retry-After", seconds)
		t.text = fmt.Sprintf("This request would exceed the rate limit of %.0f %s per minute.", size, strings.Replace(what, "tokens", "input tokens", 1))
	case "gemini":
		t.text = fmt.Sprintf("You exceeded your current rate limit. Please retry in %vs.", wait.Seconds())
		t.detail = []any{
			obj{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []obj{{
				"quotaMetric": "generativelanguage.googleapis.com/generate_content_paid_tier_" + what,
				"quotaId":     "GenerateContentPaidTier" + strings.ToUpper(what[:1]) + what[1:] + "PerMinutePerProjectPerModel", "quotaValue": fmt.Sprintf("%.0f", size),
			}}},
			obj{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": strconv.FormatFloat(wait.Seconds(), 'f', -1, 64) + "s"},
		}
	}
	m.refuse(t)
}
