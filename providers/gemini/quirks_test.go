package gemini

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// TestNothingSaid: a candidate can be empty and state a reason. For a blocked prompt,
// there is no candidate.
func TestNothingSaid(t *testing.T) {
	for _, c := range []struct {
		name, body, raw string
		want            providers.Finish
	}{
		{"STOP", `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP"}]}`, "STOP", providers.FinishStop},
		{"STOP, a part of no text", `{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}`, "STOP", providers.FinishStop},
		{"SAFETY", `{"candidates":[{"finishReason":"SAFETY","safetyRatings":[{"category":"HARM","blocked":true}]}]}`, "SAFETY", providers.FinishRefusal},
		{"RECITATION", `{"candidates":[{"content":{},"finishReason":"RECITATION","citationMetadata":{}}]}`, "RECITATION", providers.FinishRefusal},
		{"MAX_TOKENS", `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":5,"thoughtsTokenCount":8}}`, "MAX_TOKENS", providers.FinishLength},
		{"MODEL_ARMOR", `{"candidates":[{"finishReason":"MODEL_ARMOR"}]}`, "MODEL_ARMOR", providers.FinishRefusal},
		{"a number", `{"candidates":[{"content":{"role":1},"finishReason":2}]}`, "2", providers.FinishLength},
		{"MALFORMED_FUNCTION_CALL", `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "MALFORMED_FUNCTION_CALL", providers.FinishOther},
		{"a blocked prompt", `{"promptFeedback":{"blockReason":"MODEL_ARMOR"}}`, "", providers.FinishRefusal},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, body := range []string{c.body, "data: " + c.body + "\r\n\r\n", "[" + c.body + "]"} {
				got, complete, err := decode(body, body != c.body)
				require.NoError(t, err)
				require.True(t, complete)
				require.Empty(t, got.Text)
				require.Equal(t, c.want, got.Finish)
				require.Equal(t, c.raw, got.FinishRaw)
			}
		})
	}
}

// TestDoneIsNotTheEnd: the end mark of another API, which gateways add, is ignored.
func TestDoneIsNotTheEnd(t *testing.T) {
	got, complete, err := decode("data: "+candidateOf(`{"text":"a"}`, stopped)+"\n\ndata: [DONE]\n\n", true)
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, "a", got.Text)
	_, complete, err = decode("data: "+candidateOf(`{"text":"a"}`, ``)+"\n\ndata: [DONE]\n\n", true)
	require.NoError(t, err)
	require.False(t, complete, "it is cut off")
}
