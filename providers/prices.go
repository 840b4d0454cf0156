package providers

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Prices is a table of what models cost: see DefaultPrices and ParsePrices. It
// is immutable and safe for concurrent use; the zero value knows no price.
type Prices struct {
	// layers are asked in order: a file laid over the table comes first.
	layers []*priceLayer
}

// Price is one entry of the table.
type Price struct {
	Provider string
	// Models are the names it is for; or else Prefix or Contains is what their
	// names begin with or contain, but for the date or number of a snapshot.
	Models           []string
	Prefix, Contains string
	// From is the first day (UTC) it holds; zero means since ever.
	From time.Time
	// Source says where the price was read.
	Source string
	// Simulated says that the price is invented: nobody pays it.
	Simulated bool
	// Context is the length of the model's context window in tokens; 0 is unknown.
	Context int
	// base are the prices of an ordinary request, tiers those of longer
	// prompts, by rising threshold.
	base  rates
	tiers []tier
	// request is what a request costs besides its tokens, in nano-USD.
	request int64
	// services are the factors of service tiers, in thousandths, by lower-case name.
	services map[string]int64
}

// rates are prices in nano-USD per million tokens, by token class.
type rates struct{ input, output, cacheRead, cacheWrite, cacheWriteLong, reasoning int64 }

// tier replaces the rates of a request whose prompt is longer than above tokens.
type tier struct {
	above int64
	rates rates
}

type priceLayer struct {
	version string
	entries []Price
	// byName holds indices into entries, latest From first; prefixed the same
	// for entries with a prefix, longest prefix first, then latest From.
	byName   map[priceKey][]int
	prefixed []int
	// same names the provider whose prices another's are.
	same map[string]string
	// fees are what uses of providers' own tools cost, in nano-USD, by provider and tool.
	fees map[priceKey]int64
	// content is the digest, made once.
	content func() []byte
}

type priceKey struct{ provider, model string }

// Version is the date of the table; with a file laid over it, both, joined by
// a plus sign. Empty for the zero value.
func (p Prices) Version() string {
	var versions []string
	for _, l := range slices.Backward(p.layers) {
		versions = append(versions, l.version)
	}
	return strings.Join(versions, "+")
}

// Digest is the SHA-256 hex of the table's content. The order of entries in a
// file, its comments and its layout do not matter.
func (p Prices) Digest() string {
	h := sha256.New()
	for _, l := range p.layers {
		_, _ = h.Write(l.content()) // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digest is the SHA-256 of a layer's content.
func (l *priceLayer) digest() []byte {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "layer %q %q %v\n", l.version, l.same, l.fees) // fmt sorts maps
	lines := make([]string, 0, len(l.entries))
	for _, e := range l.entries {
		models := slices.Sorted(slices.Values(e.Models))
		lines = append(lines, fmt.Sprintf("%q %q %q %q %d %q %t %d %d %d %d %v\n",
			e.Provider, models, e.Prefix, e.Contains, e.From.Unix(), e.Source, e.Simulated, e.Context, e.base, e.tiers, e.request, e.services))
	}
	slices.Sort(lines)
	for _, line := range lines {
		_, _ = h.Write([]byte(line))
	}
	return h.Sum(nil)
}

// All returns every entry, those of a file laid over the table first. The
// entries share their slices with the table.
func (p Prices) All() []Price {
	var all []Price
	for _, l := range p.layers {
		all = append(all, l.entries...)
	}
	return all
}

// PerMillion returns the USD per million tokens of an ordinary request, in
// decimal digits.
func (e Price) PerMillion() (input, output, cacheRead, cacheWrite string) {
	return usd(e.base.input), usd(e.base.output), usd(e.base.cacheRead), usd(e.base.cacheWrite)
}

// Above returns the prompt sizes in tokens beyond which other prices hold.
func (e Price) Above() []int64 {
	var list []int64
	for _, t := range e.tiers {
		list = append(list, t.above)
	}
	return list
}

// Name is what the entry is for, for people.
func (e Price) Name() string {
	switch {
	case strings.HasSuffix(e.Prefix, ":"):
		return e.Prefix + "…"
	case e.Prefix != "":
		return e.Prefix + " and its snapshots"
	case e.Contains != "":
		return "…" + e.Contains + " and its snapshots"
	}
	return strings.Join(e.Models, ", ")
}

func usd(nano int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%09d", nano/1e9, nano%1e9), "0"), ".")
}

// Lookup returns the entry that prices a model on a day, and whether there is
// one. An exact name comes first, then the name without its date, then the
// longest prefix, then the longest part, each followed by nothing but the date or number of a snapshot; of those the latest that holds on the day. The zero time is
// no day: nothing is found. The entry shares its slices with the table.
func (p Prices) Lookup(provider, model string, at time.Time) (Price, bool) {
	if e := p.find(provider, model, at); e != nil {
		return *e, true
	}
	return Price{}, false
}

func (p Prices) find(provider, model string, at time.Time) *Price {
	if at.IsZero() {
		return nil
	}
	for _, l := range p.layers {
		if e := l.find(provider, model, at); e != nil {
			return e
		}
		if same := l.same[provider]; same != "" {
			if e := l.find(same, model, at); e != nil {
				return e
			}
		}
	}
	return nil
}

func (l *priceLayer) find(provider, model string, at time.Time) *Price {
	for _, name := range []string{model, undated(model)} {
		for _, i := range l.byName[priceKey{provider, name}] {
			if e := &l.entries[i]; !e.From.After(at) {
				return e
			}
		}
	}
	for _, i := range l.prefixed {
		if e := &l.entries[i]; e.Provider == provider && e.covers(model) && !e.From.After(at) {
			return e
		}
	}
	return nil
}

// snapshot is what may follow the name of a model in that of one of its snapshots: a
// date in one of the providers' forms, or a number of the version, with those of the
// cloud behind it.
var snapshot = regexp.MustCompile(`^(?:(?:-preview|-exp)?[-@](?:\d{4}-\d\d-\d\d|\d{8}|\d\d-\d{4}|\d\d-\d\d|\d{4}|\d{3}))?(?:-latest)?(?:-v\d+)?(?::\d+)?(?::\d+k)?$`)

// covers says whether a model's name is the one that is priced, or a snapshot of it.
// What it merely begins with or contains is another model: gpt-4o is not gpt-4. A
// prefix that ends with a colon is a model that was tuned for the owner who follows.
func (e *Price) covers(model string) bool {
	rest, ok := "", false
	switch {
	case e.Prefix != "":
		rest, ok = strings.CutPrefix(model, e.Prefix)
		if ok && strings.HasSuffix(e.Prefix, ":") {
			return true
		}
	case e.Contains != "":
		var before string
		before, rest, ok = strings.Cut(model, e.Contains)
		ok = ok && (before == "" || strings.ContainsAny(before[len(before)-1:], "./:"))
	}
	name := strings.TrimRight(e.Prefix+e.Contains, "-@")
	return ok && snapshot.MatchString((e.Prefix + e.Contains)[len(name):]+rest)
}

// undated cuts the date off the name of a snapshot: -20250929, @20250929,
// -2025-09-29 or -latest.
func undated(model string) string {
	if name, ok := strings.CutSuffix(model, "-latest"); ok {
		return name
	}
	for _, form := range []string{"-0000-00-00", "-00000000", "@00000000"} {
		if cut := len(model) - len(form); cut > 0 && fits(model[cut:], form) {
			return model[:cut]
		}
	}
	return model
}

// fits says whether s has a digit where form has one, and is equal elsewhere.
func fits(s, form string) bool {
	for i := range len(form) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	return true
}

// Cost is what a request cost on a day, in whole nano-USD: its tokens, or those of
// each of its parts, and the fees of the provider's own tools. It is exact up to one
// rounding of each part, half away from zero. ok is false, and the cost unknown rather
// than zero, when the usage was not reported, is not understood or is negative,
// when no entry prices a model on that day, when a tool has no known fee, when the
// request was served at a tier without a price, or when the sum exceeds an int64.
func (p Prices) Cost(provider, model string, u Usage, at time.Time) (nanoUSD int64, ok bool) {
	if !u.Reported || len(u.NotUnderstood) > 0 || u.Other != nil {
		return 0, false
	}
	parts := u.Parts
	if parts == nil {
		parts = []UsagePart{{Usage: u}} // which does not escape
	}
	for _, part := range parts {
		part.Usage.Tier = cmp.Or(part.Usage.Tier, u.Tier)
		cost, ok := p.partCost(provider, cmp.Or(part.Model, model), part.Usage, at)
		if nanoUSD += cost; !ok || nanoUSD < 0 {
			return 0, false
		}
	}
	for _, t := range u.ServerTools {
		fee, ok := p.toolFee(provider, t.Name)
		hi, cost := bits.Mul64(uint64(fee), uint64(t.Count))
		if !ok || t.Count < 0 || hi > 0 || cost > math.MaxInt64-uint64(nanoUSD) {
			return 0, false
		}
		nanoUSD += int64(cost)
	}
	return nanoUSD, true
}

// partCost is what the tokens of one request cost.
func (p Prices) partCost(provider, model string, u Usage, at time.Time) (nanoUSD int64, ok bool) {
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWriteLong, u.Reasoning) < 0 || u.CacheWriteLong > u.CacheWrite {
		return 0, false
	}
	e := p.find(provider, model, at)
	if e == nil {
		return 0, false
	}
	factor, ok := e.factor(u.Tier)
	if !ok {
		return 0, false
	}
	r := e.ratesFor(u)
	var sum total
	sum.add(u.Input, r.input*factor)
	sum.add(u.Output, r.output*factor)
	sum.add(u.CacheRead, r.cacheRead*factor)
	sum.add(u.CacheWrite-u.CacheWriteLong, r.cacheWrite*factor)
	sum.add(u.CacheWriteLong, r.cacheWriteLong*factor)
	sum.add(u.Reasoning, r.reasoning*factor)
	sum.add(1_000_000*wholeFactor, e.request)
	return sum.nano()
}

// toolFee is what a use of one of the provider's own tools costs, in nano-USD.
func (p Prices) toolFee(provider, tool string) (nanoUSD int64, ok bool) {
	for _, l := range p.layers {
		for _, of := range []string{provider, l.same[provider]} {
			if fee, ok := l.fees[priceKey{of, tool}]; ok {
				return fee, true
			}
		}
	}
	return 0, false
}

// wholeFactor is the factor of the ordinary service tier, in thousandths.
const wholeFactor = 1000

// factor is what a service tier multiplies the prices by, in thousandths.
func (e *Price) factor(tier string) (int64, bool) {
	switch tier = strings.ToLower(tier); tier {
	case "", "default", "standard", "on_demand", "on-demand", "auto":
		return wholeFactor, true
	}
	f, ok := e.services[tier]
	return f, ok
}

// ratesFor picks the tier by the length of the prompt, cache included.
func (e *Price) ratesFor(u Usage) rates {
	prompt := uint64(u.Input) + uint64(u.CacheRead) // two int64 fit
	if prompt > math.MaxInt64 || prompt+uint64(u.CacheWrite) > math.MaxInt64 {
		prompt = math.MaxInt64
	} else {
		prompt += uint64(u.CacheWrite)
	}
	r := e.base
	for _, t := range e.tiers {
		if prompt > uint64(t.above) {
			r = t.rates
		}
	}
	return r
}

// total sums tokens × rate × factor in 128 bits. Seven products of at most 2^63 ×
// 10^15 × 5000 could be too much: over remembers it.
type total struct {
	hi, lo uint64
	over   bool
}

func (t *total) add(tokens, rate int64) {
	hi, lo := bits.Mul64(uint64(tokens), uint64(rate))
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, lo, 0)
	t.hi, carry = bits.Add64(t.hi, hi, carry)
	t.over = t.over || carry != 0
}

// nano divides by a million tokens and a thousand thousandths, rounding half up:
// nothing here is negative.
func (t total) nano() (int64, bool) {
	const unit = 1_000_000 * wholeFactor
	lo, carry := bits.Add64(t.lo, unit/2, 0)
	hi, carry := bits.Add64(t.hi, 0, carry)
	if hi >= unit || carry != 0 || t.over {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, unit)
	return int64(q & math.MaxInt64), q <= math.MaxInt64
}

//go:embed prices.yaml
var pricesFile []byte

var builtinPrices = sync.OnceValues(func() (*priceLayer, error) { return readPrices(pricesFile) })

// DefaultPrices returns the built-in table. An error means that the program
// was built with a broken one.
func DefaultPrices() (Prices, error) {
	l, err := builtinPrices()
	if err != nil {
		return Prices{}, fmt.Errorf("built-in price table: %w", err)
	}
	return Prices{layers: []*priceLayer{l}}, nil
}

// ParsePrices reads a price file, YAML or JSON in the form of the built-in
// table, and lays it over that table: a model that the file prices on a day is
// priced by the file alone. The error joins every problem, each with its line.
func ParsePrices(data []byte) (Prices, error) {
	base, err := DefaultPrices()
	if err != nil {
		return Prices{}, err
	}
	l, err := readPrices(data)
	if err != nil {
		return Prices{}, err
	}
	return Prices{layers: append([]*priceLayer{l}, base.layers...)}, nil
}
