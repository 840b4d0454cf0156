package anthropic

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// TestDoneIsNotTheEnd: the end mark of another API, which gateways add, is ignored.
func TestDoneIsNotTheEnd(t *testing.T) {
	said := []string{begun, text0, blockDelta(`{"type":"text_delta","text":"a"}`), close0, stopped("end_turn", `{"output_tokens":2}`)}
	got, complete, err := decodeStream(events(said...) + "data: [DONE]\n\n" + events(ended) + "data: [DONE]\n\n")
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, "a", got.Text)
	_, complete, err = decodeStream(events(said...) + "data: [DONE]\n\n")
	require.NoError(t, err)
	require.False(t, complete, "message_stop is missing")
}

// TestLinesOfAStream reads the forms that the standard for event streams allows.
func TestLinesOfAStream(t *testing.T) {
	plain := events(begun, text0, blockDelta(`{"type":"text_delta","text":"a"}`), close0, stopped("stop_sequence", `{"output_tokens":2}`), ended)
	for name, body := range map[string]string{
		"no space after data": strings.ReplaceAll(strings.ReplaceAll(plain, "data: ", "data:"), "event: ", "event:"),
		"CRLF":                strings.ReplaceAll(plain, "\n", "\r\n"),
		"comments":            ": hello\n\n" + strings.ReplaceAll(plain, "\n\n", "\n\n: ping\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, complete, err := decodeStream(body)
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, "a", got.Text)
			require.Equal(t, providers.FinishStop, got.Finish)
		})
	}
}

// TestNothingSaidInAStream reads a stream that ends before any block.
func TestNothingSaidInAStream(t *testing.T) {
	for reason, want := range map[string]providers.Finish{"end_turn": providers.FinishStop, "stop_sequence": providers.FinishStop, "max_tokens": providers.FinishLength} {
		got, complete, err := decodeStream(events(begun, stopped(reason, `{"output_tokens":1}`), ended))
		require.NoError(t, err, reason)
		require.True(t, complete)
		require.Empty(t, got.Text+got.Reasoning)
		require.Equal(t, want, got.Finish)
		require.Equal(t, reason, got.FinishRaw)
		require.True(t, got.Usage.Reported)
	}
}
