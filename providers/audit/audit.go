// Package audit checks the wires against recorded exchanges. Per wire, it reports which
// numbers of the providers' usage were read, which were not, and which do not
// reconcile. It opens no network connection.
package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/providers/internal/wire"
	"github.com/cupel-eval/cupel/providers/price"
)

// Exchange is a recorded request and its reply.
type Exchange struct {
	// Name says where it is recorded, such as "file.yaml#3".
	Name string
	// Provider is whom it asks, where the recording says so; else it follows from the address.
	Provider string
	Method   string
	URL      string
	Request  []byte
	Status   int
	Header   http.Header
	Body     []byte
	// Failed reports that the transport failed before the end of the body.
	Failed bool
	// Day is that of the prices: when it was recorded. The zero time means that of the
	// reply's Date header, or else of the price table.
	Day time.Time
}

// Auditor reads exchanges. It is for one goroutine.
type Auditor struct {
	options Options
	byWire  map[string]*Wire
	other   map[string]*Finding
}

// Options say what is read how. All of them are required but Prices.
type Options struct {
	// Factories speak the wires, by provider.
	Factories map[string]providers.Factory
	// WireOf names the wire of each provider.
	WireOf map[string]string
	// Fields account for the usage of each wire.
	Fields map[string][]wire.UsageField
	// Prices price the replies that report a cost.
	Prices price.Table
}

// New makes an auditor without exchanges.
func New(o Options) *Auditor {
	return &Auditor{options: o, byWire: map[string]*Wire{}, other: map[string]*Finding{}}
}

// Finding is something found in several exchanges.
type Finding struct {
	What  string `json:"what"`
	Count int    `json:"count"`
	// First is the first exchange that has it.
	First string `json:"first"`
}

// Field is a number of the usage objects of a wire, and what becomes of it.
type Field struct {
	Path   string `json:"path"`
	Column string `json:"column,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Count is in how many replies it is.
	Count int `json:"count"`
}

// Wire is what was found of one wire.
type Wire struct {
	Wire string `json:"wire"`
	// Exchanges are all, Replies those with an answer, Reported those with usage.
	Exchanges int `json:"exchanges"`
	Replies   int `json:"replies"`
	Reported  int `json:"with_usage"`
	// Fields are the numbers that are accounted for, by path.
	Fields []Field `json:"fields"`
	// Costs are replies that report a cost, Priced those of them that the price table
	// prices, too.
	Costs  int `json:"costs_reported"`
	Priced int `json:"costs_priced"`
	// NotUnderstood is what the counts do not account for, NotRead are replies that
	// could not be read; the most frequent first.
	NotUnderstood []Finding `json:"not_understood"`
	NotRead       []Finding `json:"not_read"`
	// Errors counts the providers' errors, by kind.
	Errors map[fault.Kind]int `json:"errors"`

	fields map[string]*Field
}

// Report is what was found.
type Report struct {
	Wires []Wire `json:"wires"`
	// Other are requests that are not of any wire, by method and path.
	Other []Finding `json:"other"`
}

// Doubtful is how many findings there are of usage that is not understood and of
// replies that could not be read.
func (r Report) Doubtful() int {
	n := 0
	for _, w := range r.Wires {
		for _, f := range slices.Concat(w.NotUnderstood, w.NotRead) {
			n += f.Count
		}
	}
	return n
}

// Add reads an exchange.
func (a *Auditor) Add(x Exchange) {
	r := gateway.RouteOf(x.Provider, x.Method, x.URL, x.Request)
	if wire := a.options.WireOf[x.Provider]; wire != "" && wire == a.options.WireOf[r.Provider] {
		r.Provider = x.Provider // a name of cupel's own
	}
	factory := a.options.Factories[r.Provider]
	if factory == nil {
		note(a.other, r.Path, x.Name)
		return
	}
	name := a.options.WireOf[r.Provider]
	w := a.byWire[name]
	if w == nil {
		w = &Wire{Wire: name, Errors: map[fault.Kind]int{}, fields: map[string]*Field{}}
		a.byWire[name] = w
	}
	w.Exchanges++
	if x.Failed {
		w.Errors[fault.Transport]++
		return
	}
	reply, err := gateway.Decode(context.Background(), factory, r.Model, r.Stream, &http.Response{StatusCode: x.Status, Header: x.Header, Body: io.NopCloser(bytes.NewReader(x.Body))})
	var failed *fault.Error
	switch {
	case err == nil:
		w.Replies++
	case errors.As(err, &failed) && failed.Kind != fault.Malformed && failed.Kind != fault.Transport:
		w.Errors[failed.Kind]++
	default:
		add(&w.NotRead, err.Error(), x.Name)
	}
	if len(reply.RawUsage) == 0 {
		return
	}
	w.Reported++
	a.leaves(w, reply.RawUsage)
	if reply.CostNanoUSD != nil {
		w.Costs++
		a.options.Prices.Settle(r.Provider, cmp.Or(r.Model, reply.Model), &reply, a.day(x))
		if _, ok := a.options.Prices.Lookup(r.Provider, cmp.Or(r.Model, reply.Model), a.day(x)); ok {
			w.Priced++
		}
	} else {
		a.options.Prices.Settle(r.Provider, r.Model, &reply, time.Time{}) // of two readings, none is right
	}
	for _, text := range reply.Usage.NotUnderstood {
		add(&w.NotUnderstood, text, x.Name)
	}
}

// day is that of the prices of an exchange.
func (a *Auditor) day(x Exchange) time.Time {
	if x.Day.IsZero() {
		x.Day, _ = http.ParseTime(x.Header.Get("Date"))
	}
	if x.Day.IsZero() {
		version, _, _ := strings.Cut(a.options.Prices.Version(), "+")
		x.Day, _ = time.Parse(time.DateOnly, version)
	}
	return x.Day
}

// leaves counts the numbers of a usage object that are accounted for.
func (a *Auditor) leaves(w *Wire, raw []byte) {
	seen := map[string]bool{}
	wire.Leaves(raw, func(path string, _ []byte) {
		if seen[path] {
			return
		}
		seen[path] = true
		f := w.fields[path]
		if f == nil {
			f = &Field{Path: path, Reason: "always 0"}
			for _, known := range a.options.Fields[w.Wire] {
				if wire.NewFields(known).Knows(path) {
					f.Column, f.Reason = known.Column, known.Reason
					break
				}
			}
			w.fields[path] = f
		}
		f.Count++
	})
}

// Report returns what was found so far, in a fresh value.
func (a *Auditor) Report() Report {
	var r Report
	for _, name := range slices.Sorted(maps.Keys(a.byWire)) {
		w := *a.byWire[name]
		doubted := map[string]bool{}
		for _, f := range w.NotUnderstood {
			path, _, _ := strings.Cut(f.What, ": ")
			doubted[path] = true
		}
		for _, path := range slices.Sorted(maps.Keys(w.fields)) {
			if f := *w.fields[path]; f.Column != "" || !doubted[path] {
				w.Fields = append(w.Fields, f)
			}
		}
		w.NotUnderstood, w.NotRead = sorted(w.NotUnderstood), sorted(w.NotRead)
		r.Wires = append(r.Wires, w)
	}
	for _, f := range a.other {
		r.Other = append(r.Other, *f)
	}
	r.Other = sorted(r.Other)
	return r
}

func note(in map[string]*Finding, what, name string) {
	if in[what] == nil {
		in[what] = &Finding{What: what, First: name}
	}
	in[what].Count++
}

func add(to *[]Finding, what, name string) {
	for i := range *to {
		if (*to)[i].What == what {
			(*to)[i].Count++
			return
		}
	}
	*to = append(*to, Finding{what, 1, name})
}

func sorted(list []Finding) []Finding {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What)) })
	return list
}
