package anthropic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCallsThatAreLeftOut: a call of an unknown kind is reported. Calls that Anthropic
// executes itself are not calls for the agent.
func TestCallsThatAreLeftOut(t *testing.T) {
	for kind, out := range map[string]bool{
		"custom_tool_use": true, "server_tool_use": false, "mcp_tool_use": false, "mcp_tool_result": false, "compaction": false, "fallback": false,
	} {
		block := `{"type":"` + kind + `","id":"c","name":"n","input":{}}`
		whole, fault, err := decode([]byte(`{"content":[`+block+`],"stop_reason":"tool_use"}`), "")
		require.Nil(t, fault)
		streamed, _, streamErr := decodeStream(events(begun, `{"type":"content_block_start","index":0,"content_block":`+block+`}`, close0, stopped("tool_use", "{}"), ended))
		for _, said := range []string{fmt.Sprint(err, whole.Warnings), fmt.Sprint(streamErr, streamed.Warnings)} {
			if out {
				require.Contains(t, said, "does not read: "+kind)
			} else {
				require.NotContains(t, said, "does not read", kind)
			}
		}
		require.Empty(t, whole.Calls)
	}
}
