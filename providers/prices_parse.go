package providers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

// maxTierStart bounds a tier's threshold, in tokens.
const maxTierStart = 1 << 40

// given are the prices an entry or a tier states; nil for those it leaves out.
type given struct{ input, output, cacheRead, cacheWrite, cacheWriteLong, reasoning *int64 }

// readPrices reads one table and every problem in it.
func readPrices(data []byte) (*priceLayer, error) {
	d := document{what: "prices"}
	l := &priceLayer{byName: map[priceKey][]int{}}
	l.content = sync.OnceValue(l.digest)
	root := d.root(data)
	d.fields(root, "prices", func(name string, v *yaml.Node) bool {
		switch name {
		case "version":
			if day, ok := d.day(v, name); ok {
				l.version = day.Format(time.DateOnly)
			}
		case "same":
			l.same = map[string]string{}
			d.fields(v, name, func(provider string, as *yaml.Node) bool {
				var to string
				d.text(as, name+"."+provider, &to)
				l.same[provider] = to
				return true
			})
		case "fees":
			l.fees = d.fees(v)
		case "prices":
			if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
				d.problem(v, name, "must be a list of at least one entry")
				return true
			}
			for i, n := range v.Content {
				l.entries = append(l.entries, d.price(n, fmt.Sprintf("prices[%d]", i)))
			}
		default:
			return false
		}
		return true
	})
	if len(d.problems) == 0 && l.version == "" {
		d.problem(root, "version", "is missing: the day the prices were read, YYYY-MM-DD")
	}
	if len(d.problems) == 0 && len(l.entries) == 0 {
		d.problem(root, "prices", "is missing: a list of entries")
	}
	if len(d.problems) == 0 {
		l.index(&d)
	}
	return l, d.err()
}

// price reads one entry.
func (d *document) price(n *yaml.Node, where string) Price {
	var p Price
	var base given
	var tiers *yaml.Node
	d.fields(n, where, func(name string, v *yaml.Node) bool {
		at := where + "." + name
		switch name {
		case "provider":
			d.text(v, at, &p.Provider)
		case "models":
			p.Models = d.names(v, at)
		case "prefix":
			d.text(v, at, &p.Prefix)
		case "contains":
			d.text(v, at, &p.Contains)
		case "context":
			d.count(v, at, maxTierStart, &p.Context)
		case "request":
			p.request = d.usd(v, at, "request")
		case "services":
			p.services = d.services(v, at)
		case "from":
			p.From, _ = d.day(v, at)
		case "source":
			d.text(v, at, &p.Source)
		case "simulated":
			d.truth(v, at, &p.Simulated)
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
		if m.missing && n.Kind == yaml.MappingNode && !hasField(n, m.field) {
			d.problem(n, where, "%s is missing", m.field)
		}
	}
	if n.Kind == yaml.MappingNode && count(hasField(n, "models"), hasField(n, "prefix"), hasField(n, "contains")) != 1 {
		d.problem(n, where, "give one of models, prefix and contains")
	}
	p.base = base.rates()
	if tiers != nil {
		p.tiers = d.tiers(tiers, where+".tiers", base)
	}
	return p
}

// fees reads what uses of providers' own tools cost.
func (d *document) fees(n *yaml.Node) map[priceKey]int64 {
	fees := map[priceKey]int64{}
	d.fields(n, "fees", func(provider string, tools *yaml.Node) bool {
		d.fields(tools, "fees."+provider, func(tool string, v *yaml.Node) bool {
			fees[priceKey{provider, tool}] = d.usd(v, "fees."+provider+"."+tool, "use")
			return true
		})
		return true
	})
	return fees
}

// count is how many of the facts hold.
func count(facts ...bool) int {
	n := 0
	for _, f := range facts {
		if f {
			n++
		}
	}
	return n
}

// services reads the factors of service tiers.
func (d *document) services(n *yaml.Node, where string) map[string]int64 {
	factors := map[string]int64{}
	d.fields(n, where, func(name string, v *yaml.Node) bool {
		nano, err := ParseUSD(v.Value)
		if v.Kind != yaml.ScalarNode || err != nil || nano%1e6 != 0 || nano > 5e9 {
			d.problem(v, where+"."+name, "%.60q must be a factor of the prices from 0 to 5, a decimal such as \"0.5\" of at most 3 fractional digits", v.Value)
		}
		factors[strings.ToLower(name)] = nano / 1e6
		return true
	})
	return factors
}

// tiers reads the prices of longer prompts; what a tier leaves out is as in base.
func (d *document) tiers(n *yaml.Node, where string, base given) []tier {
	if n.Kind != yaml.SequenceNode {
		d.problem(n, where, "must be a list")
		return nil
	}
	var list []tier
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", where, i)
		above, prices := 0, base
		d.fields(item, at, func(name string, v *yaml.Node) bool {
			if name == "above" {
				d.count(v, at+".above", maxTierStart, &above)
				return true
			}
			return prices.read(d, name, v, at+"."+name)
		})
		if above == 0 {
			d.problem(item, at, "above must be a number of tokens over 0")
		} else if len(list) > 0 && int64(above) <= list[len(list)-1].above {
			d.problem(item, at, "above must rise from tier to tier")
		}
		list = append(list, tier{above: int64(above), rates: prices.rates()})
	}
	return list
}

// read reads one price field; false for a name it does not know.
func (g *given) read(d *document, name string, v *yaml.Node, where string) bool {
	field, ok := map[string]**int64{
		"input": &g.input, "output": &g.output, "cache_read": &g.cacheRead, "cache_write": &g.cacheWrite,
		"cache_write_long": &g.cacheWriteLong, "reasoning": &g.reasoning,
	}[name]
	if !ok {
		return false
	}
	nano := d.usd(v, where, "million tokens")
	*field = &nano
	return true
}

// usd reads an amount of dollars for something.
func (d *document) usd(v *yaml.Node, where, per string) int64 {
	nano, err := ParseUSD(v.Value)
	if v.Kind != yaml.ScalarNode || err != nil {
		d.problem(v, where, "%.60q must be USD per %s, a decimal such as \"2.50\" of at most %d whole and 9 fractional digits", v.Value, per, usdDigits)
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
func (l *priceLayer) index(d *document) {
	latestFirst := func(a, b int) int { return l.entries[b].From.Compare(l.entries[a].From) }
	twice := func(a, b int) bool {
		ea, eb := &l.entries[a], &l.entries[b]
		return ea.Provider == eb.Provider && ea.Prefix == eb.Prefix && ea.Contains == eb.Contains && ea.From.Equal(eb.From)
	}
	for i, e := range l.entries {
		for _, model := range e.Models {
			key := priceKey{e.Provider, model}
			for _, other := range l.byName[key] {
				if twice(i, other) {
					d.problems = append(d.problems, fmt.Errorf("prices: prices[%d]: provider %s prices model %s twice from the same day on (also in prices[%d])", i, e.Provider, model, other))
				}
			}
			l.byName[key] = append(l.byName[key], i)
		}
		if e.Prefix+e.Contains == "" {
			continue
		}
		for _, other := range l.prefixed {
			if twice(i, other) {
				d.problems = append(d.problems, fmt.Errorf("prices: prices[%d]: provider %s prices %s twice from the same day on (also in prices[%d])", i, e.Provider, e.Name(), other))
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
