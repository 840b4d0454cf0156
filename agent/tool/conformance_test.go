package tool_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
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
	cases := conformanceCases(t)
	groups := map[string]string{}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			call := tool.Call{}
			call.Name, _ = c.Name.(string) // a name of another type never becomes a call's name
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
	require.NotEmpty(t, cases)
}

func conformanceCases(t *testing.T) []conformanceCase {
	path := filepath.Join("..", "..", "..", "shared", "conformance", "contract-cases.jsonl")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("conformance data not present")
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	var out []conformanceCase
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct{ Fn string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		if row.Fn != "stable_key" {
			continue
		}
		var c conformanceCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		out = append(out, c)
	}
	require.NoError(t, lines.Err())
	return out
}
