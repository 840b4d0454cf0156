package gemini

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// TestAReplyGoesBackAsItCame checks that the next request has what a reply kept, for a
// complete reply, events and an array.
func TestAReplyGoesBackAsItCame(t *testing.T) {
	for _, c := range []struct {
		name, parts, back string
	}{
		{"plain text", `{"text":"a"},{"text":"b"}`, ``},
		{"a call", `{"functionCall":{"name":"f","args":{"a":1}}}`, `{"functionCall":{"name":"f","args":{"a":1}}}`},
		{"a signed call", `{"functionCall":{"id":"x","name":"f","args":{ "b" : 1.0 }},"thoughtSignature":"s=="}`, `{"thoughtSignature":"s==","functionCall":{"id":"x","name":"f","args":{"b":1.0}}}`},
		{"thoughts go, their signature stays", `{"text":"hm","thought":true},{"text":"","thoughtSignature":"s"}`, `{"text":"","thoughtSignature":"s"}`},
		{"text before a call", `{"text":"I "},{"text":"look"},{"functionCall":{"name":"f"},"thoughtSignature":"s"}`, `{"text":"I look"},{"thoughtSignature":"s","functionCall":{"name":"f"}}`},
		{"code and its result", `{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"1"}`, `{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"1"}`},
		{"pictures do not go back", `{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"functionCall":{"name":"f"}}`, `{"functionCall":{"name":"f"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := candidateOf(c.parts, stopped)
			for _, form := range []string{body, "data: " + body + "\r\n\r\n", "[" + body + "]"} {
				got, complete, err := decode(form, form != body)
				require.NoError(t, err)
				require.True(t, complete)
				if c.back == "" {
					require.Nil(t, got.Continuation)
					continue
				}
				require.JSONEq(t, `{"gemini_parts":[`+c.back+`]}`, string(got.Continuation))
				parts, _ := readContinuation(got.Continuation)
				require.Len(t, parts, strings.Count(c.back, "},{")+1)
			}
		})
	}
}

// TestFramesOfSmallReads checks that the frames do not depend on how the bytes are
// split.
func TestFramesOfSmallReads(t *testing.T) {
	a, b := candidateOf(`{"text":"Grüße \"日本\" }],[{"}`, ``), candidateOf(`{"text":"."}`, stopped)
	for name, body := range map[string]string{
		"events":             "data: " + a + "\r\n\r\ndata: " + b + "\r\n\r\n",
		"array":              "[" + a + "\n,\r\n" + b + "\n]",
		"array after a mark": "\ufeff \n[" + a + "," + b + "]",
		"array without end":  "[" + a + "," + b,
	} {
		t.Run(name, func(t *testing.T) {
			var frames []string
			err := framing.Cut(iotest.OneByteReader(strings.NewReader(body)), 1<<20, func(f wire.Frame) error {
				frames = append(frames, f.Data)
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, []string{a, b}, frames)
		})
	}
	var frames int
	count := func(wire.Frame) error { frames++; return nil }
	require.NoError(t, framing.Cut(strings.NewReader(""), 1<<20, count))
	require.NoError(t, framing.Cut(strings.NewReader(" \ufeff"), 1<<20, count))
	require.NoError(t, framing.Cut(strings.NewReader("["), 1<<20, count))
	require.Error(t, framing.Cut(strings.NewReader("[{]"), 1<<20, count))
	require.Zero(t, frames)
}

// TestFinishMessagesAreTold: the message for a stopped reply is a warning, that for a
// normal end is not.
func TestFinishMessagesAreTold(t *testing.T) {
	got, _, err := decode(candidateOf(`{"text":"a"}`, `,"finishReason":"SAFETY","finishMessage":"too wild"`), false)
	require.NoError(t, err)
	require.Equal(t, []string{"SAFETY: too wild"}, got.Warnings)
	require.Equal(t, "a", got.Text, "what was said is kept")
	require.Equal(t, providers.FinishRefusal, got.Finish)
	got, _, err = decode(candidateOf(`{"text":"a"}`, `,"finishReason":"STOP","finishMessage":"Model generated function call(s)."`), false)
	require.NoError(t, err)
	require.Empty(t, got.Warnings)
}
