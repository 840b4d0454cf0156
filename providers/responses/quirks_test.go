package responses

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// TestNothingSaid: a response can be empty and state a reason.
func TestNothingSaid(t *testing.T) {
	const cut = `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"reasoning","id":"rs","summary":[]}]`
	for _, c := range []struct {
		name, body, raw string
		want            providers.Finish
	}{
		{"max_output_tokens", `{` + cut + `}`, "max_output_tokens", providers.FinishLength},
		{"max_output_tokens, streamed", stream(created, `{"type":"response.incomplete","response":{`+cut+`}}`), "max_output_tokens", providers.FinishLength},
		{"completed", `{"status":"completed","output":[]}`, "completed", providers.FinishStop},
		{"queued", `{"status":"queued","output":[]}`, "queued", providers.FinishOther},
		{"filtered", `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, "content_filter", providers.FinishRefusal},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(c.body), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Empty(t, got.Text)
			require.Equal(t, c.want, got.Finish)
			require.Equal(t, c.raw, got.FinishRaw)
		})
	}
}

// TestCutOffStreams: only the last event is the end.
func TestCutOffStreams(t *testing.T) {
	for name, events := range map[string][]string{
		"after the first event": {created}, "after text": {created, delta("output_text", "Hel")}, "after a word of another wire": {created, "[DONE]"},
	} {
		t.Run(name, func(t *testing.T) {
			_, complete, err := wire.Decode(&decoder{}, wire.Events, []byte(stream(events...)), true, "")
			require.NoError(t, err)
			require.False(t, complete)
		})
	}
}

// TestDataWithoutASpace: the space after the colon is optional.
func TestDataWithoutASpace(t *testing.T) {
	got, fault, err := decode([]byte("event:response.output_text.delta\ndata:"+delta("output_text", "Hello")+"\n\ndata:"+completed(message)+"\r\n\r\n"), "")
	require.NoError(t, err)
	require.Nil(t, fault)
	require.Equal(t, "Hello", got.Text)
}
