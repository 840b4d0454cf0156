package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

// The first reply ends an episode whose answer are calls, whatever it is, and nothing is run or
// offered besides.
func TestCallsOnly(t *testing.T) {
	for _, c := range []struct {
		name, text, args string
		asked            []tool.Call
	}{
		{"a call", "", `{"query":"a"}`, []tool.Call{{Name: "search", Args: []byte(`{"query":"a"}`)}}},
		{"a call that does not fit", "", `{"query`, []tool.Call{{Name: "search", Args: []byte(`{"query`)}}},
		{"a text", "No.", "", nil},
		{"nothing", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := New("tools", Params{Request: "r", CallsOnly: true, Tools: testTools(t)}, nil)
			require.NoError(t, err)
			model := m.Step(Started{At: testStart}).Commands[0].(CallModel)
			require.Equal(t, defaultSystem, model.Call.System)
			require.Len(t, model.Call.Tools, len(testTools(t).Specs()))
			r := saying(c.text)
			if c.args != "" {
				r = calling("search", c.args)
			}
			ready := m.Step(ModelReplied{At: testStart, ID: model.ID, Reply: r})
			require.Equal(t, c.asked, ready.Judgement.Asked)
			require.Len(t, ready.Commands, 1)
			require.Equal(t, Answered, ready.Commands[0].(Finish).Status)
		})
	}
}
