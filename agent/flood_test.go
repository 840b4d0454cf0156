package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// flood is a reply of very many calls.
func flood(n int, name, args string) providers.Reply {
	var r providers.Reply
	for i := range n {
		r.Calls = append(r.Calls, providers.ToolCall{Name: name, Args: strings.ReplaceAll(args, "N", fmt.Sprint(i))})
	}
	return r
}

// Ten thousand calls of a turn are all answered, in linear time.
func TestManyCallsOfATurn(t *testing.T) {
	for name, args := range map[string][2]string{
		"run or refused": {"get_job_status", `{"id":"N"}`},
		"faulty":         {"search", `{"q":N}`},
		"the same":       {"search", `{"query":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			turns := map[int]providers.Reply{}
			for _, calls := range []int{2_500, 10_000} {
				turns[calls] = flood(calls, args[0], args[1])
			}
			testkit.Linear(t, 2_500, func(calls int) {
				require.Len(t, runTools(t, Params{}, nil, turns[calls]).answers(), calls)
			})
		})
	}
}

// A call with an invalid name is neither shown nor recorded as a call of a tool.
func TestNamesOfNoTool(t *testing.T) {
	for name, want := range map[string]string{
		"get counts": "get_counts_", "get_counts\n": "get_counts_", "\x00": "_", "": "_", "sea\xffrch": "sea_rch", "Search": "Search", strings.Repeat("é", 100): strings.Repeat("_", 64),
	} {
		r := runTools(t, Params{}, nil, calling(name, "{}"))
		require.Equal(t, want, r.run[0].Call.Name, "%q", name)
		require.Equal(t, want, r.answers()[0].Name)
		require.Contains(t, r.answers()[0].Text, codeUnknownTool)
	}
}

// A call with any arguments is refused or executed, recorded as JSON, and answered.
func TestArgumentsThatAreNone(t *testing.T) {
	for name, test := range map[string]struct{ args, want string }{
		"deep":               {strings.Repeat(`{"query":`, 5_000) + "1" + strings.Repeat("}", 5_000), "args:too_deep"},
		"deeper than JSON":   {strings.Repeat(`{"query":`, 20_000) + "1" + strings.Repeat("}", 20_000), "args:too_large"},
		"open without end":   {strings.Repeat("[", 1_000_000), tellNoObject},
		"huge":               {`{"query":"` + strings.Repeat("x", 1_000_000) + `"}`, "args:too_large"},
		"invalid UTF-8":      {"{\"query\":\"\xff\"}", tellNoObject},
		"control character":  {"{\"query\":\"\x00\"}", tellNoObject},
		"a number too large": {`{"query":1e999999999}`, "args:number_out_of_range"},
		"a name twice":       {`{"query":"a","query":"b"}`, "args.query:duplicate_key"},
		"lone surrogate":     {`{"query":"\ud800"}`, ""},
		"two objects":        {`{"query":"a"}{"query":"b"}`, tellNoObject},
	} {
		t.Run(name, func(t *testing.T) {
			r := runTools(t, Params{}, nil, calling("search", test.args))
			require.True(t, json.Valid(r.run[0].Call.Args))
			require.True(t, json.Valid([]byte(r.answers()[0].Text)))
			if test.want == "" {
				require.Nil(t, r.run[0].Given)
				return
			}
			require.Equal(t, codeArgs, r.run[0].Given.Code)
			require.Equal(t, test.want, r.run[0].Given.Message)
		})
	}
}
