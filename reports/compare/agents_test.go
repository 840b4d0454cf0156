package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Two strategies can be compared. The configuration differences name them, and the note
// on the share of valid outputs says that it measures two different things.
func TestTwoStrategies(t *testing.T) {
	for _, c := range []struct{ baseline, new, title, note string }{
		{"contract", "contract", "Contract-valid first outputs", ""},
		{"", "contract", "Contract-valid first outputs", ""},
		{"tools", "tools", "Protocol-valid first outputs", ""},
		{"contract", "plan", "Protocol-valid first outputs", "checked against its own protocol"},
	} {
		t.Run(c.baseline+" "+c.new, func(t *testing.T) {
			p := plan{candidate: "a", tasks: 6, trials: 1}
			m := p.manifest()
			m.Candidates = append(m.Candidates, m.Candidates[0])
			m.Candidates[0].Agent, m.Candidates[1].Name, m.Candidates[1].Agent = c.baseline, "b", c.new
			b := NewBuilder([]manifest.Manifest{m}, m, []Names{{"a", "b"}}, Rules{})
			p.each(b.addBaseline)
			q := plan{candidate: "b", tasks: 6, trials: 1}
			q.each(b.AddNew)
			got := finished(b)
			valid := metric(got.Pairs[0], "contract_valid")
			require.Equal(t, c.title, valid.Title)
			if c.note == "" {
				require.Empty(t, valid.Note)
			} else {
				require.Contains(t, valid.Note, c.note)
			}
			var agents []Difference
			for _, d := range got.Differences {
				if d.What == "agent" {
					agents = append(agents, d)
				}
			}
			if c.baseline == c.new {
				require.Empty(t, agents)
			} else {
				require.Len(t, agents, 1)
				require.Equal(t, c.new, agents[0].New)
				require.Equal(t, "a and b", agents[0].Where)
			}
		})
	}
}
