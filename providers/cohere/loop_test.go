package cohere

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// talk answers each request with the next body, and keeps the requests.
type talk struct {
	bodies []string
	asked  []string
}

func (p *talk) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.asked = append(p.asked, string(text))
	return testkit.Body(strings.NewReader(p.bodies[len(p.asked)-1]))(r)
}

// The message for a reply has its plan, its calls and their ids, the same for a
// complete and a streamed reply.
func TestTheToolLoop(t *testing.T) {
	const wholeTool = `{"id":"x","message":{"role":"assistant","tool_plan":"I will look.","tool_calls":[` +
		`{"id":"f_1","type":"function","function":{"name":"f","arguments":"{\"city\": \"Rome\"}"}},{"id":"f_2","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"TOOL_CALL"}`
	for name, stream := range map[string]bool{"whole": false, "streamed": true} {
		t.Run(name, func(t *testing.T) {
			p := &talk{bodies: []string{wholeTool, `{"id":"y","message":{"content":[{"type":"text","text":"20 and 21"}]},"finish_reason":"COMPLETE"}`}}
			if stream {
				p.bodies[0], p.bodies[1] = toolStream, streamed
			}
			m, err := New(providers.Options{HTTP: &http.Client{Transport: p}})
			require.NoError(t, err)
			call := providers.Call{Model: "m", Stream: stream, Messages: []providers.Message{{Role: "user", Text: "hi"}}, Tools: []providers.Tool{{Name: "f"}}}
			first, err := m.Call(context.Background(), call)
			require.NoError(t, err)
			require.Equal(t, providers.FinishTools, first.Finish)
			call.Messages = append(call.Messages, providers.Message{Role: "assistant", Text: first.Text, Calls: first.Calls, Continuation: first.Continuation})
			for i, c := range first.Calls {
				call.Messages = append(call.Messages, providers.Message{Role: "tool", CallID: c.ID, Name: c.Name, Text: []string{"20", "21"}[i]})
			}
			second, err := m.Call(context.Background(), call)
			require.NoError(t, err)
			require.Equal(t, providers.FinishStop, second.Finish)
			require.Contains(t, p.asked[1], `{"role":"user","content":"hi"},{"role":"assistant","tool_plan":"I will look.","tool_calls":[`+
				`{"id":"f_1","type":"function","function":{"name":"f","arguments":"{\"city\": \"Rome\"}"}},{"id":"f_2","type":"function","function":{"name":"f","arguments":"{}"}}]},`+
				`{"role":"tool","content":"20","tool_call_id":"f_1"},{"role":"tool","content":"21","tool_call_id":"f_2"}]`)
		})
	}
}

func TestDeltasOfAStream(t *testing.T) {
	m, err := New(providers.Options{HTTP: &http.Client{Transport: &talk{bodies: []string{toolStream}}}})
	require.NoError(t, err)
	var got []providers.Delta
	reply, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true, OnDelta: func(d providers.Delta) { got = append(got, d) }})
	require.NoError(t, err)
	require.Equal(t, []providers.Delta{
		{Kind: providers.DeltaReasoning, Text: "I will"}, {Kind: providers.DeltaReasoning, Text: " look."},
		{Kind: providers.DeltaCall, Text: "f"}, {Kind: providers.DeltaArgs, Text: `{"city":`},
		{Kind: providers.DeltaCall, Text: "f", Call: 1}, {Kind: providers.DeltaArgs, Text: ` "Rome"}`},
		{Kind: providers.DeltaArgs, Text: "{}", Call: 1},
	}, got)
	require.Len(t, reply.Frames, len(got))
}

func TestWhatBeginsAStream(t *testing.T) {
	for _, c := range []struct {
		head string
		want bool
	}{
		{"event: message-start", true}, {"data: {}", true}, {": ping", true},
		{`{"is_finished":false,`, true}, {`{"event_type":"stream-start"`, true}, {`{"is_`, true},
		{`{"id":"x","message":`, false}, {`{"response_id":"x"`, false}, {`{"message":"no"}`, false}, {`{"text":"a"}`, false}, {"[]", false}, {"", false},
	} {
		t.Run(c.head, func(t *testing.T) {
			for _, asked := range []bool{false, true} { // servers may stream or not, whatever was requested
				require.Equal(t, c.want, framing.Starts([]byte(c.head), asked))
			}
		})
	}
}

// A complete reply to a streaming request is read as complete, and a stream to the
// opposite request as a stream.
func TestAnsweredOtherwiseThanAsked(t *testing.T) {
	const body = `{"id":"x","message":{"content":[{"type":"text","text":"It is 24°C."},{"type":"thinking","thinking":"hm"}]},"finish_reason":"COMPLETE"}`
	for _, asked := range []bool{false, true} {
		whole, complete, err := wire.Decode(&decoder{}, framing, []byte(body), asked, "")
		require.NoError(t, err)
		require.True(t, complete)
		pieces, complete, err := wire.Decode(&decoder{}, framing, []byte(streamed), asked, "")
		require.NoError(t, err)
		require.True(t, complete)
		require.Equal(t, whole.Text, pieces.Text)
		require.Equal(t, whole.Reasoning, pieces.Reasoning)
		require.Equal(t, whole.Finish, pieces.Finish)
	}
}
