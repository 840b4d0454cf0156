package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// conformanceCase is one stable_key row of the conformance data.
type conformanceCase struct {
	ID     string
	Name   any     `json:"tool_name"`
	Args   *string `json:"tool_args_text"`
	Group  string
	Expect struct {
		OK       bool
		Key      string
		ArgsHash string `json:"tool_args_hash"`
		Error    string
	}
}

func TestConformance(t *testing.T) {
	groups := map[string]string{}
	for _, c := range testkit.Conformance[conformanceCase](t, "contract-cases.jsonl", "fn", "stable_key") {
		t.Run(c.ID, func(t *testing.T) {
			call := tool.Call{}
			call.Name, _ = c.Name.(string) // names of another type are not used
			if c.Args != nil {
				call.Args = json.RawMessage(*c.Args)
			}
			key, hash, err := tool.Key(call)
			if !c.Expect.OK {
				var keyError *tool.KeyError
				require.ErrorAs(t, err, &keyError)
				require.Equal(t, c.Expect.Error, keyError.Code)
				require.Empty(t, key+hash)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.Expect.Key, key)
			require.Equal(t, c.Expect.ArgsHash, hash)
			if first, ok := groups[c.Group]; ok && c.Group != "" {
				require.Equal(t, first, key)
			}
			groups[c.Group] = key
		})
	}
}
