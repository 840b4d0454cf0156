package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// The axes of a matrix, in the order their values take turns, the last fastest.
const (
	axisAgent = iota
	axisProvider
	axisModel
	axisMode
	axisProfile
	axes
)

// axisNames are the fields of a candidate that an axis gives values to.
var axisNames = [axes]string{"agent", "provider", "model", "mode", "profile"}

// axisDefault is the only value of an axis that a matrix does not have; what it is
// of the profile, the agent says.
func axisDefault(axis int, agent string) string {
	switch axis {
	case axisAgent:
		return strategy.Contract
	case axisMode:
		return "prompt"
	case axisProfile:
		return strategy.Of(agent).DefaultProfile()
	}
	return ""
}

// maxCandidates bounds a matrix: its combinations, exclusions and inclusions.
const maxCandidates = 1_000

// matrix is a grid of candidates.
type matrix struct {
	values [axes][]string
	// models are those of each provider; nil gives every provider all models.
	models map[string][]string
	// set lays over a candidate what all have in common.
	set     func(*goldens.Candidate)
	exclude []region
	include []addition
}

// combination is one point of the grid, region a part of it: an axis without
// values takes all.
type (
	combination [axes]string
	region      [axes][]string
)

func (p region) matches(c combination) bool {
	for axis, values := range p {
		if values != nil && !slices.Contains(values, c[axis]) {
			return false
		}
	}
	return true
}

// addition is an entry of include. With a name it is its own candidate, at
// the region's only point; without, it is laid over those in the region.
type addition struct {
	name string
	region
	set func(*goldens.Candidate)
}

// matrixFault is what is wrong with an entry of exclude or include, or, if list
// is empty, with the axes.
type matrixFault struct {
	list   string
	index  int
	detail string
}

// expand returns the candidates of the grid, in the order of its axes, then those
// of include; or all that is wrong.
func (m matrix) expand() ([]goldens.Candidate, []matrixFault) {
	if n := m.size(); n > maxCandidates {
		return nil, []matrixFault{{detail: fmt.Sprintf("the matrix has more than %d combinations", maxCandidates)}}
	}
	var out []goldens.Candidate
	var faults []matrixFault
	where := map[string]string{} // who has a name
	add := func(c goldens.Candidate, what string, fault matrixFault) {
		if detail := yamlfile.LowerName.Fault(c.Name); detail != "" {
			fault.detail = fmt.Sprintf("%s: the name %s; exclude it, and include it with a name", what, detail)
			faults = append(faults, fault)
		} else if other, taken := where[c.Name]; taken {
			fault.detail = fmt.Sprintf("%s and %s would both be named %s: exclude one, and include it with another name", other, what, c.Name)
			faults = append(faults, fault)
		}
		where[c.Name] = what
		out = append(out, c)
	}
	excluded, included := make([]bool, len(m.exclude)), make([]bool, len(m.include))
	for _, at := range m.combinations() {
		left := true
		for i, p := range m.exclude {
			if p.matches(at) {
				excluded[i], left = true, false
			}
		}
		if !left {
			continue
		}
		c := at.candidate(at.name())
		m.set(&c)
		for i, a := range m.include {
			if a.name == "" && a.matches(at) {
				included[i] = true
				a.set(&c)
			}
		}
		add(c, fmt.Sprintf("provider %s, model %s", at[axisProvider], at[axisModel]), matrixFault{})
	}
	for i, a := range m.include {
		if a.name == "" {
			continue
		}
		included[i] = true
		var at combination
		for axis, values := range a.region {
			at[axis] = values[0]
		}
		c := at.candidate(a.name)
		m.set(&c)
		a.set(&c)
		add(c, fmt.Sprintf("include[%d]", i), matrixFault{list: "include", index: i})
	}
	faults = append(faults, unusedEntries("exclude", excluded, "")...)
	faults = append(faults, unusedEntries("include", included, "; to add a separate candidate, give it a name")...)
	if len(out) == 0 && faults == nil {
		faults = []matrixFault{{detail: "nothing is left of the matrix: exclude less"}}
	}
	return out, faults
}

// unusedEntries are the entries of a list that changed nothing: they are mistakes.
func unusedEntries(list string, used []bool, hint string) []matrixFault {
	var out []matrixFault
	for i, ok := range used {
		if !ok {
			out = append(out, matrixFault{list, i, "matches no combination" + hint})
		}
	}
	return out
}

// modelsOf are the models that a provider is combined with.
func (m matrix) modelsOf(provider string) []string {
	if m.models != nil {
		return m.models[provider]
	}
	return m.values[axisModel]
}

// profilesOf are the prompt profiles that an agent is combined with.
func (m matrix) profilesOf(agent string) []string {
	if m.values[axisProfile] == nil {
		return []string{strategy.Of(agent).DefaultProfile()}
	}
	return m.values[axisProfile]
}

// size is the number of combinations, or some number above the bound.
func (m matrix) size() int {
	n := 0
	for _, provider := range m.values[axisProvider] {
		n += len(m.modelsOf(provider))
	}
	for _, axis := range []int{axisAgent, axisMode, axisProfile} {
		n = min(n, maxCandidates+1) * min(max(len(m.values[axis]), 1), maxCandidates+1)
	}
	return n
}

func (m matrix) combinations() []combination {
	var out []combination
	for _, agent := range m.values[axisAgent] {
		for _, provider := range m.values[axisProvider] {
			for _, model := range m.modelsOf(provider) {
				for _, mode := range m.values[axisMode] {
					for _, profile := range m.profilesOf(agent) {
						out = append(out, combination{agent, provider, model, mode, profile})
					}
				}
			}
		}
	}
	return out
}

func (c combination) candidate(name string) goldens.Candidate {
	return goldens.Candidate{
		Name: name, Agent: c[axisAgent], Provider: c[axisProvider], Model: c[axisModel],
		Mode: c[axisMode], Profile: c[axisProfile],
	}
}

// name is made of provider and model, and of agent, mode and profile where they
// are not the default: it stays what it is when the matrix grows.
func (c combination) name() string {
	parts := []string{c[axisProvider], c[axisModel]}
	for _, axis := range []int{axisAgent, axisMode, axisProfile} {
		if c[axis] != axisDefault(axis, c[axisAgent]) {
			parts = append(parts, c[axis])
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, strings.Join(parts, "-"))
}
