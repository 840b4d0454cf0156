package all

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/sim"
)

// TestModesAgainstTheSimulator checks that the simulator accepts the requests of every
// provider in every mode, and that a turn without a slip has the same text in all.
func TestModesAgainstTheSimulator(t *testing.T) {
	suite, err := load.Suite(counts.FS, "counts", counts.Worlds())
	require.NoError(t, err)
	book, err := load.Playbook(suite)
	require.NoError(t, err)
	at := slices.IndexFunc(suite.Tasks, func(t goldens.Task) bool { return t.ID == "G03" })
	prompt := "USER_REQUEST:\n<data>" + suite.Tasks[at].Request + "</data>\n\nSCRATCHPAD (compact):\nGOAL: x\nOBS: (none)\n" +
		"BUDGET_USED: steps=0/5 tool_calls=0/5 tokens=0\n\nTOOLS (strict JSON Schemas):\n1) get_counts: Counts.\n\nRULES:\n- one\n"
	schema := []byte(`{"type":"object","properties":{"control":{"type":"object","properties":{},"additionalProperties":false}},"required":["control"],"additionalProperties":false}`)
	client := &http.Client{Transport: testkit.Handled(sim.Handler(sim.Config{Seed: 1, Books: []*playbook.Book{book}}))}
	for _, name := range []string{"sim-openai", "sim-anthropic"} {
		m, err := Factories()[name](providers.Options{HTTP: client})
		require.NoError(t, err)
		modes := m.(providers.Formatter).Modes()
		require.Contains(t, modes, providers.ForcedTool)
		for i := range 50 {
			call := providers.Call{
				Model: "sim-strong", System: "Answer in JSON.", Messages: []providers.Message{{Role: "user", Text: prompt}},
				MaxTokens: 400, RequestID: fmt.Sprint(i),
			}
			free, err := m.Call(context.Background(), call)
			require.NoError(t, err)
			require.Equal(t, providers.FinishStop, free.Finish)
			for _, mode := range modes {
				call.Format = &providers.Format{Mode: mode, Name: "turn", Schema: schema}
				got, err := m.Call(context.Background(), call)
				require.NoError(t, err, "%s %s", name, mode)
				require.Equal(t, free.Text, got.Text)
				require.Empty(t, got.Warnings)
				require.Equal(t, free.Usage, got.Usage)
				want := providers.FinishStop
				if mode == providers.ForcedTool {
					want = providers.FinishTools
				}
				require.Equal(t, want, got.Finish)
			}
		}
	}
}

// TestCompatibleHasItsWiresModes checks that a custom provider supports all modes of
// its API.
func TestCompatibleHasItsWiresModes(t *testing.T) {
	for name, wire := range map[string]string{"openai-compatible": "openai", "sim-openai": "openai", "sim-anthropic": "anthropic"} {
		o := providers.Options{BaseURL: "http://127.0.0.1:1/v1"}
		m, err := Factories()[name](o)
		require.NoError(t, err)
		original, err := Factories()[wire](o)
		require.NoError(t, err)
		require.Equal(t, original.(providers.Formatter).Modes(), m.(providers.Formatter).Modes())
	}
}
