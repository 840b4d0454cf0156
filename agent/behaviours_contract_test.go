package agent

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// contractBehaviours are the behaviours of the loop; those of reading a reply are tested in package
// contract.
var contractBehaviours = map[string]func(t *testing.T){
	"B038": func(t *testing.T) { // with a number, and the schema below
		r := runContract(t, 0, 0)
		require.Contains(t, r.last()[0].Text, ") get_job_status: Polls.\nschema = ")
	},
	"B149": func(t *testing.T) {
		require.Empty(t, runContract(t, 3, 3).finish)
		r := runContract(t, 3, 4)
		require.Len(t, r.run, 4)
		require.Equal(t, []bool{false, true}, []bool{r.run[2].Given != nil, r.run[3].Given != nil})
		require.Equal(t, codeBudget, r.run[3].Given.Code)
	},
}

// runContract has a model call so many tools.
func runContract(t *testing.T, limit, calls int) *machineRun {
	p := Params{Request: "r", Tools: testTools(t)}
	p.Budgets.MaxToolCalls = limit
	m, err := New("contract", p, nil)
	require.NoError(t, err)
	var replies []any
	for i := range calls {
		call := action{"type": "tool", "name": "search", "args": map[string]any{"query": fmt.Sprint(i)}}
		replies = append(replies, saying(turnText(t, "continue", call, fmt.Sprint(i))))
	}
	return runMachine(t, m, nil, replies...)
}

func TestContractBehaviours(t *testing.T) {
	for id, test := range contractBehaviours {
		t.Run(id, test)
	}
}
