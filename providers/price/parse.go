package price

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/providers/internal/document"
)

// maxTierStart bounds a tier's threshold, in tokens.
const maxTierStart = 1 << 40

// given are the prices an entry or a tier states; nil for those it leaves out.
type given struct{ input, output, cacheRead, cacheWrite, cacheWriteLong, reasoning *int64 }

// read reads one table and every problem in it.
func read(data []byte) (*layer, error) {
	d := document.Document{What: "prices"}
	l := &layer{byName: map[key][]int{}}
	l.content = sync.OnceValue(l.digest)
	root := d.Root(data)
	d.Fields(root, "prices", func(name string, v *yaml.Node) bool {
		switch name {
		case "version":
			if day, ok := d.Day(v, name); ok {
				l.version = day.Format(time.DateOnly)
			}
		case "same":
			l.same = map[string]string{}
			d.Fields(v, name, func(provider string, as *yaml.Node) bool {
				var to string
				d.Text(as, name+"."+provider, &to)
				l.same[provider] = to
				return true
			})
		case "fees":
			l.fees = readFees(&d, v)
		case "prices":
			if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
				d.Problem(v, name, "must be a list of at least one entry")
				return true
			}
			for i, n := range v.Content {
				l.entries = append(l.entries, readEntry(&d, n, fmt.Sprintf("prices[%d]", i)))
			}
		default:
			return false
		}
		return true
	})
	if len(d.Problems) == 0 && l.version == "" {
		d.Problem(root, "version", "is missing: the day the prices were read, YYYY-MM-DD")
	}
	if len(d.Problems) == 0 && len(l.entries) == 0 {
		d.Problem(root, "prices", "is missing: a list of entries")
	}
	if len(d.Problems) == 0 {
		l.index(&d)
	}
	return l, d.Err()
}

// readEntry reads one entry.
func readEntry(d *document.Document, n *yaml.Node, where string) Entry {
	var p Entry
	var base given
	var tiers *yaml.Node
	d.Fields(n, where, func(name string, v *yaml.Node) bool {
		at := where + "." + name
		switch name {
		case "provider":
			d.Text(v, at, &p.Provider)
		case "models":
			p.Models = d.Names(v, at)
		case "prefix":
			d.Text(v, at, &p.Prefix)
		case "contains":
			d.Text(v, at, &p.Contains)
		case "context":
			d.Count(v, at, maxTierStart, &p.Context)
		case "request":
			p.request = readUSD(d, v, at, "request")
		case "services":
			p.services = readServices(d, v, at)
		case "from":
			p.From, _ = d.Day(v, at)
		case "source":
			d.Text(v, at, &p.Source)
		case "simulated":
			d.Truth(v, at, &p.Simulated)
		case "tiers":
			tiers = v
		default:
			return base.read(d, name, v, at)
		}
		return true
	})
	for _, m := range []struct {
		missing bool
		field   string
	}{
		{p.Provider == "", "provider"}, {p.Source == "", "source"},
		{base.input == nil, "input"}, {base.output == nil, "output"},
	} {
		if m.missing && n.Kind == yaml.MappingNode && !document.HasField(n, m.field) {
			d.Problem(n, where, "%s is missing", m.field)
		}
	}
	if n.Kind == yaml.MappingNode && count(document.HasField(n, "models"), document.HasField(n, "prefix"), document.HasField(n, "contains")) != 1 {
		d.Problem(n, where, "give one of models, prefix and contains")
	}
	p.base = base.rates()
	if tiers != nil {
		p.tiers = readTiers(d, tiers, where+".tiers", base)
	}
	return p
}

// readFees reads what uses of providers' own tools cost.
func readFees(d *document.Document, n *yaml.Node) map[key]int64 {
	fees := map[key]int64{}
	d.Fields(n, "fees", func(provider string, tools *yaml.Node) bool {
		d.Fields(tools, "fees."+provider, func(tool string, v *yaml.Node) bool {
			fees[key{provider, tool}] = readUSD(d, v, "fees."+provider+"."+tool, "use")
			return true
		})
		return true
	})
	return fees
}

// count is how many of the facts are true.
func count(facts ...bool) int {
	n := 0
	for _, f := range facts {
		if f {
			n++
		}
	}
	return n
}

// readServices reads the factors of service tiers.
func readServices(d *document.Document, n *yaml.Node, where string) map[string]int64 {
	factors := map[string]int64{}
	d.Fields(n, where, func(name string, v *yaml.Node) bool {
		nano, err := ParseUSD(v.Value)
		if v.Kind != yaml.ScalarNode || err != nil || nano%1e6 != 0 || nano > 5e9 {
			d.Problem(v, where+"."+name, "%.60q must be a factor of the prices from 0 to 5, a decimal such as \"0.5\" of at most 3 fractional digits", v.Value)
		}
		factors[strings.ToLower(name)] = nano / 1e6
		return true
	})
	return factors
}

// readTiers reads the prices of longer prompts; what a tier leaves out is as in base.
func readTiers(d *document.Document, n *yaml.Node, where string, base given) []tier {
	if n.Kind != yaml.SequenceNode {
		d.Problem(n, where, "must be a list")
		return nil
	}
	var list []tier
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", where, i)
		above, prices := 0, base
		d.Fields(item, at, func(name string, v *yaml.Node) bool {
			if name == "above" {
				d.Count(v, at+".above", maxTierStart, &above)
				return true
			}
			return prices.read(d, name, v, at+"."+name)
		})
		if above == 0 {
			d.Problem(item, at, "above must be a number of tokens over 0")
		} else if len(list) > 0 && int64(above) <= list[len(list)-1].above {
			d.Problem(item, at, "above must rise from tier to tier")
		}
		list = append(list, tier{above: int64(above), rates: prices.rates()})
	}
	return list
}

// read reads one price field; false for a name it does not know.
func (g *given) read(d *document.Document, name string, v *yaml.Node, where string) bool {
	field, ok := map[string]**int64{
		"input": &g.input, "output": &g.output, "cache_read": &g.cacheRead, "cache_write": &g.cacheWrite,
		"cache_write_long": &g.cacheWriteLong, "reasoning": &g.reasoning,
	}[name]
	if !ok {
		return false
	}
	*field = new(readUSD(d, v, where, "million tokens"))
	return true
}

// readUSD reads an amount of dollars for something.
func readUSD(d *document.Document, v *yaml.Node, where, per string) int64 {
	nano, err := ParseUSD(v.Value)
	if v.Kind != yaml.ScalarNode || err != nil {
		d.Problem(v, where, "%.60q must be USD per %s, a decimal such as \"2.50\" of at most %d whole and 9 fractional digits", v.Value, per, usdDigits)
	}
	return nano
}

// usdDigits bounds the whole part of a price.
const usdDigits = 6

// ParseUSD reads a decimal number of dollars, of at most 6 whole and 9 fractional
// digits and without a sign, as nano-USD, exactly.
func ParseUSD(s string) (int64, error) {
	whole, frac, point := strings.Cut(s, ".")
	if len(whole) == 0 || len(whole) > usdDigits || len(frac) > 9 || point && frac == "" {
		return 0, strconv.ErrSyntax
	}
	digits := whole + frac + strings.Repeat("0", 9-len(frac))
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), err
}

// rates fills in what is not given: reasoning as output, the cache as input, what
// is cached for long as what is cached.
func (g given) rates() rates {
	var zero int64
	input, output := cmp.Or(g.input, &zero), cmp.Or(g.output, &zero)
	return rates{
		input: *input, output: *output,
		cacheRead: *cmp.Or(g.cacheRead, input), cacheWrite: *cmp.Or(g.cacheWrite, input),
		cacheWriteLong: *cmp.Or(g.cacheWriteLong, g.cacheWrite, input), reasoning: *cmp.Or(g.reasoning, output),
	}
}

// index makes the entries searchable and finds those given twice.
func (l *layer) index(d *document.Document) {
	latestFirst := func(a, b int) int { return l.entries[b].From.Compare(l.entries[a].From) }
	twice := func(a, b int) bool {
		ea, eb := &l.entries[a], &l.entries[b]
		return ea.Provider == eb.Provider && ea.Prefix == eb.Prefix && ea.Contains == eb.Contains && ea.From.Equal(eb.From)
	}
	for i, e := range l.entries {
		for _, model := range e.Models {
			key := key{e.Provider, model}
			for _, other := range l.byName[key] {
				if twice(i, other) {
					d.Problems = append(d.Problems, fmt.Errorf("prices: prices[%d]: provider %s prices model %s twice from the same day on (also in prices[%d])", i, e.Provider, model, other))
				}
			}
			l.byName[key] = append(l.byName[key], i)
		}
		if e.Prefix+e.Contains == "" {
			continue
		}
		for _, other := range l.prefixed {
			if twice(i, other) {
				d.Problems = append(d.Problems, fmt.Errorf("prices: prices[%d]: provider %s prices %s twice from the same day on (also in prices[%d])", i, e.Provider, e.Name(), other))
			}
		}
		l.prefixed = append(l.prefixed, i)
	}
	for _, list := range l.byName {
		slices.SortStableFunc(list, latestFirst)
	}
	slices.SortStableFunc(l.prefixed, func(a, b int) int {
		ea, eb := &l.entries[a], &l.entries[b]
		return cmp.Or(cmp.Compare(len(eb.Prefix), len(ea.Prefix)), cmp.Compare(len(eb.Contains), len(ea.Contains)), latestFirst(a, b))
	})
}
