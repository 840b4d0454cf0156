package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestOnly(t *testing.T) {
	object := json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`)
	all, err := tool.NewSet([]tool.Spec{{Name: "a", Schema: object}, {Name: "b", Schema: object}, {Name: "c", Schema: object}})
	require.NoError(t, err)
	some := all.Only([]string{"c", "nobody", "a", "a"})
	require.Equal(t, []tool.Spec{{Name: "a", Schema: object}, {Name: "c", Schema: object}}, some.Specs(), "in the order of the whole")
	require.False(t, some.Has("b"))
	require.Equal(t, []string{"name:unknown_tool"}, some.Validate(tool.Call{Name: "b"}))
	require.Equal(t, []string{"args.id:required"}, some.Validate(tool.Call{Name: "a"}))
	require.Equal(t, []string{"id"}, some.Fields("c"))
	require.Len(t, all.Specs(), 3, "the full set is not changed")
	require.Empty(t, all.Only(nil).Specs())
	var none *tool.Set
	require.Empty(t, none.Only([]string{"a"}).Specs())
}
