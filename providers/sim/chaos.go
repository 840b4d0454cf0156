package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Chaos is one way in which a server misbehaves, as servers in production do.
type Chaos struct {
	// Name asks for it: in Config.Chaos, or of one request in the header
	// X-Sim-Chaos.
	Name string
	// Does says what happens.
	Does string
	// Whole and Stream are the classes of failure, of fault.Kind, that a
	// correct client reports of a reply that was to come whole or as a stream, any
	// of them. Empty means harmless: the client reads the reply as if nothing had
	// happened.
	Whole, Stream []string
	// Wait is how long the server tells the client to wait; 0 if it does not, or
	// if that depends on the wire.
	Wait time.Duration
	// Paid reports that the failed reply tells its usage, which must not be lost.
	Paid bool

	act func(*fault)
}

// ChaosHeader selects one Chaos by name, regardless of Config.Chaos. The reply carries it, too.
const ChaosHeader = "X-Sim-Chaos"

// Chaoses returns every Chaos there is, sorted by name, in a fresh slice.
func Chaoses() []Chaos {
	list := slices.Concat(refusals(), cuts(), malformedReplies(), harmless())
	slices.SortFunc(list, func(a, b Chaos) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// faultRate is how often something happens.
type faultRate struct {
	chaos Chaos
	rate  float64
}

// parseChaos reads "NAME[=RATE],…", where all represents every Chaos. Names
// without a rate share evenly what the others leave of 1.
func parseChaos(spec string) ([]faultRate, error) {
	if strings.TrimSpace(spec) == "" {
		return nil, nil
	}
	var list []faultRate
	var open []int
	left := 1.0
	for item := range strings.SplitSeq(spec, ",") {
		name, rate, given := strings.Cut(strings.TrimSpace(item), "=")
		which := Chaoses()
		if name != "all" {
			which = slices.DeleteFunc(which, func(c Chaos) bool { return c.Name != name })
		}
		if len(which) == 0 {
			return nil, fmt.Errorf("sim: chaos %.60q: unknown name; all, or one of %s", name, strings.Join(chaosNames(), ", "))
		}
		var share float64
		if given {
			p, err := strconv.ParseFloat(rate, 64)
			if err != nil || !(p >= 0 && p <= 1) {
				return nil, fmt.Errorf("sim: chaos %s: rate %.40q: must be a number from 0 to 1", name, rate)
			}
			left -= p
			share = p / float64(len(which))
		}
		for _, c := range which {
			if !given {
				open = append(open, len(list))
			}
			list = append(list, faultRate{c, share})
		}
	}
	if left < -1e-9 {
		return nil, fmt.Errorf("sim: chaos %.200q: the rates add up to %.3g, more than 1", spec, 1-left)
	}
	for _, i := range open {
		list[i].rate = max(0, left) / float64(len(open))
	}
	return list, nil
}

func chaosNames() []string {
	var names []string
	for _, c := range Chaoses() {
		names = append(names, c.Name)
	}
	return names
}

// chaos lets requests to a model misbehave: the one that a request asks for by header, or one drawn from the
// seed and the request, so that the same request always fares the same.
func chaos(seed int64, list []faultRate, next http.Handler) http.Handler {
	known := Chaoses()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Header.Get(ChaosHeader)
		if r.Method != http.MethodPost || asked == "" && len(list) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody+1))
		if err != nil {
			next.ServeHTTP(w, r) // it fails there, in the wire's words
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		c, ok := draw(list, seed, r, body)
		if asked != "" {
			i := slices.IndexFunc(known, func(c Chaos) bool { return c.Name == asked })
			if i < 0 {
				http.Error(w, "unknown "+ChaosHeader+": one of "+strings.Join(chaosNames(), ", "), http.StatusBadRequest)
				return
			}
			c, ok = known[i], true
		}
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set(ChaosHeader, c.Name)
		w.Header()["Date"] = nil
		wr := wireOf(r)
		c.act(&fault{w: w, r: r, next: next, wire: wr, vendor: wr.vendor()})
	})
}

func draw(list []faultRate, seed int64, r *http.Request, body []byte) (Chaos, bool) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "cupel sim chaos 1\n%d\n%s\n%s\n", seed, r.URL.Path, r.Header.Get("X-Client-Request-Id"))
	h.Write(body)
	u := float64(binary.BigEndian.Uint64(h.Sum(nil))>>11) / (1 << 53)
	for _, o := range list {
		if u -= o.rate; u < 0 {
			return o.chaos, true
		}
	}
	return Chaos{}, false
}
