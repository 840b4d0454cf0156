package reports

import (
	"fmt"
	"slices"
)

// pictureStrategies gives the contests names that a picture can show, as pictured
// does; key says who is who. It changes copies only.
func (r *Report) pictureStrategies() (key []string) {
	if r.Strategies == nil {
		return nil
	}
	said := map[string]string{}
	drawn := func(what, name string) string {
		if drawable(visible(name)) {
			return name
		}
		if said[name] == "" {
			said[name] = join(" ", fmt.Sprintf("%s #%d", what, len(said)+1), drawablePart(visible(name)))
			key = append(key, said[name]+" is "+brief(name, 40))
		}
		return said[name]
	}
	s := *r.Strategies
	contest := func(c Contest) Contest {
		c.Entrants = slices.Clone(c.Entrants)
		for i := range c.Entrants {
			c.Entrants[i].Agent = drawn("strategy", c.Entrants[i].Agent)
		}
		if c.Winner != "" {
			c.Winner = drawn("strategy", c.Winner)
		}
		c.Provider, c.Model = drawn("provider", c.Provider), drawn("model", c.Model)
		return c
	}
	s.Groups = slices.Clone(s.Groups)
	for i := range s.Groups {
		s.Groups[i] = contest(s.Groups[i])
	}
	if s.Pooled != nil {
		s.Pooled = new(contest(*s.Pooled))
	}
	r.Strategies = &s
	return key
}
