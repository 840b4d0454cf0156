// Package price says what model calls cost: the built-in table of prices, with a file of
// prices laid over it by the user, prices what a reply reports (Table.Cost) and bounds what a
// request can cost before it is sent (Table.Worst). Amounts are whole nano-USD.
package price

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Table is a table of what models cost: see Default and Parse. It
// is immutable and safe for concurrent use; the zero value has no prices.
type Table struct {
	// layers are asked in order: a file laid over the table comes first.
	layers []*layer
}

// Entry is one entry of the table.
type Entry struct {
	Provider string
	// Models are the names it is for; or else Prefix or Contains is what their
	// names begin with or contain, except for the date or number of a snapshot.
	Models           []string
	Prefix, Contains string
	// From is the first day (UTC) it applies; the zero time means no first day.
	From time.Time
	// Source says where the price was read.
	Source string
	// Simulated reports that the price is invented; it is not charged.
	Simulated bool
	// Context is the length of the model's context window in tokens; 0 means unknown.
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

// layer is one file of prices.
type layer struct {
	version string
	entries []Entry
	// byName holds indices into entries, latest From first; prefixed the same
	// for entries with a prefix, longest prefix first, then latest From.
	byName   map[key][]int
	prefixed []int
	// same names the provider whose prices another's are.
	same map[string]string
	// fees are what uses of providers' own tools cost, in nano-USD, by provider and tool.
	fees map[key]int64
	// content is the digest, made once.
	content func() []byte
	// part returns the layer with the entries of one provider, or of all with "". It is
	// nil for a layer that has its entries.
	part func(provider string) *layer
}

// of returns the layer with the entries of one provider at least, or of all with "".
func (l *layer) of(provider string) *layer {
	if l.part == nil {
		return l
	}
	return l.part(provider)
}

type key struct{ provider, model string }

// Version is the date of the table; with a file laid over it, both, joined by
// a plus sign. Empty for the zero value.
func (p Table) Version() string {
	var versions []string
	for _, l := range slices.Backward(p.layers) {
		versions = append(versions, l.version)
	}
	return strings.Join(versions, "+")
}

// Digest is the SHA-256 hex of the table's content. The order of entries in a
// file, its comments and its layout do not matter.
func (p Table) Digest() string {
	h := sha256.New()
	for _, l := range p.layers {
		_, _ = h.Write(l.content()) // a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digest is the SHA-256 of a layer's content.
func (l *layer) digest() []byte {
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
func (p Table) All() []Entry {
	var all []Entry
	for _, l := range p.layers {
		all = append(all, l.of("").entries...)
	}
	return all
}

// PerMillion returns the USD per million tokens of an ordinary request, in
// decimal digits.
func (e Entry) PerMillion() (input, output, cacheRead, cacheWrite string) {
	return usd(e.base.input), usd(e.base.output), usd(e.base.cacheRead), usd(e.base.cacheWrite)
}

// Above returns the prompt sizes in tokens beyond which other prices apply.
func (e Entry) Above() []int64 {
	var list []int64
	for _, t := range e.tiers {
		list = append(list, t.above)
	}
	return list
}

// Name is what the entry is for, in words.
func (e Entry) Name() string {
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

//go:embed prices.yaml
var pricesFile []byte

// builtinContent is the digest of the built-in layer: a run needs it, and few of the entries.
const builtinContent = "1672a87e0157653ef5e85933e20f0dd182bbb386c4ea5dff770ae08878813c8d"

// builtin is the built-in layer. Entries are read when their provider is first asked for.
var builtin = sync.OnceValues(func() (*layer, error) {
	l, err := readBuiltin("sim-openai")
	content, wrong := hex.DecodeString(builtinContent)
	l.content = func() []byte { return content }
	var parts sync.Map
	l.part = func(provider string) *layer {
		part, ok := parts.Load(provider)
		if !ok {
			read, _ := readBuiltin(provider) // an error means no entry: a test reads all of them
			part, _ = parts.LoadOrStore(provider, read)
		}
		return part.(*layer)
	}
	return l, errors.Join(err, wrong)
})

// readBuiltin reads the built-in table with the entries of one provider, or of all with
// "". Every entry is a line of its own.
func readBuiltin(provider string) (*layer, error) {
	var text []byte
	for line := range bytes.Lines(pricesFile) {
		if of, entry := bytes.CutPrefix(line, []byte("  - {provider: ")); !entry || provider == "" || bytes.HasPrefix(of, []byte(provider+",")) {
			text = append(text, line...)
		}
	}
	return read(text)
}

// Default returns the built-in table. An error means that the program
// was built with a broken one.
func Default() (Table, error) {
	l, err := builtin()
	if err != nil {
		return Table{}, fmt.Errorf("built-in price table: %w", err)
	}
	return Table{layers: []*layer{l}}, nil
}

// Parse reads a price file, YAML or JSON in the form of the built-in
// table, and lays it over that table: a model that the file prices on a day is
// priced by the file alone. The error joins every problem, each with its line.
func Parse(data []byte) (Table, error) {
	base, err := Default()
	if err != nil {
		return Table{}, err
	}
	l, err := read(data)
	if err != nil {
		return Table{}, err
	}
	return Table{layers: append([]*layer{l}, base.layers...)}, nil
}
