package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// ending is a decoder of {"text":…,"finish":true,"end":true,"left":…} documents.
type ending struct{}

func (ending) Whole(b *Builder, body []byte) error {
	_, err := ending{}.Frame(b, Frame{Data: string(body)})
	b.Complete = b.Reply.FinishRaw == "end"
	return err
}

func (ending) Frame(b *Builder, f Frame) (bool, error) {
	var v struct {
		Text, Left  string
		Finish, End bool
	}
	if err := json.Unmarshal([]byte(f.Data), &v); err != nil {
		return false, err
	}
	b.Text(v.Text)
	if v.Left != "" {
		b.LeftOut(v.Left)
	}
	b.Complete = b.Complete || v.Finish
	if v.End {
		b.Reply.FinishRaw = "end"
	}
	return v.End, nil
}

func TestHowRepliesEnd(t *testing.T) {
	for _, c := range []struct {
		name, body string
		stream     bool
		kind       fault.Kind // empty for a reply
	}{
		{"whole", `{"text":"a","end":true}`, false, ""},
		{"whole, not finished by its own word", `{"text":"a"}`, false, fault.Transport},
		{"whole, half a document", `{"text":"a`, false, fault.Malformed},
		{"stream", "{\"text\":\"a\"}\n{\"end\":true}\n", true, ""},
		{"stream without an end", "{\"text\":\"a\"}\n", true, fault.Transport},
		{"stream with a reason to finish, and a clean end of the body", "{\"text\":\"a\",\"finish\":true}\n", true, ""},
		{"stream with a reason to finish, broken off", "{\"text\":\"a\",\"finish\":true}\n" + brokenOff, true, fault.Transport},
		{"stream with a reason to finish, cut in a line", "{\"text\":\"a\",\"finish\":true}\n{\"te", true, fault.Transport},
		{"stream with its own end, broken off after it", "{\"text\":\"a\",\"finish\":true}\n{\"end\":true}\n" + brokenOff, true, ""},
		{"stream cut in a line", "{\"text\":\"a\"}\n{\"te", true, fault.Transport},
		{"stream with a line that is no JSON", "{\"text\":\"a\"}\nupstream is resting\n", true, fault.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := New(Dialect{Base: "http://server.test", Kind: func(Fault) fault.Kind { return "" }}, providers.Options{HTTP: &http.Client{Transport: saying(c.body)}})
			require.NoError(t, err)
			_, err = client.Do(context.Background(), providers.Call{Stream: c.stream}, Request{Framing: Lines}, ending{}, nil)
			if c.kind == "" {
				require.NoError(t, err)
				return
			}
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.stream, e.Partial)
		})
	}
}

// saying answers every request with a body, which breaks off at brokenOff.
type saying string

const brokenOff = "\x00"

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	text, broken := strings.CutSuffix(string(s), brokenOff)
	var body io.Reader = strings.NewReader(text)
	if broken {
		body = io.MultiReader(body, iotest.ErrReader(errors.New("connection reset")))
	}
	return testkit.Body(body)(r)
}

// TestCallsThatAreLeftOut: a reply without a call that the model made is not the
// model's failure. Its usage is known.
func TestCallsThatAreLeftOut(t *testing.T) {
	for _, c := range []struct{ name, body, message string }{
		{"whole", `{"text":"a","end":true,"left":"computer_call"}`, "the reply has a call that cupel does not read: computer_call"},
		{"streamed, each once", "{\"text\":\"a\",\"left\":\"x\"}\n{\"left\":\"x\"}\n{\"left\":\"y\",\"end\":true}\n", "the reply has a call that cupel does not read: x, y"},
		{"a long name", `{"text":"a","end":true,"left":"` + strings.Repeat("n", 1000) + `"}`, "the reply has a call that cupel does not read: " + strings.Repeat("n", 80) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := strings.Contains(c.name, "streamed")
			client, err := New(Dialect{Base: "http://server.test"}, providers.Options{HTTP: &http.Client{Transport: saying(c.body)}})
			require.NoError(t, err)
			r, err := client.Do(context.Background(), providers.Call{Stream: stream}, Request{Framing: Lines}, ending{}, nil)
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.Unsupported, e.Kind)
			require.Equal(t, c.message, e.Message)
			require.False(t, e.Retryable() || e.Partial, "it would be the same once more, and what it used is all there was")
			require.Equal(t, "a", r.Text)
			_, _, err = Decode(ending{}, Lines, []byte(c.body), stream, "")
			require.EqualError(t, err, c.message)
		})
	}
	var b Builder
	for i := range 1000 {
		b.LeftOut(strings.Repeat("x", i))
	}
	require.Less(t, len(b.unsupported()), 1000)
}

func TestCustomCalls(t *testing.T) {
	for args, left := range map[string]bool{`{"x":1}`: false, ` {} `: false, ``: false, `print(1)`: true, `[1]`: true, `{"x":`: true, `"x"`: true} {
		var b Builder
		c := b.Call("", "a", "f")
		c.Custom = true
		c.Args(args)
		r := b.build("")
		require.Equal(t, left, b.unsupported() != "", args)
		require.Equal(t, []providers.ToolCall{{ID: "a", Name: "f", Args: cmp.Or(args, "{}")}}, r.Calls)
	}
}

// openEnd is the body of a reply after which the server keeps the connection.
type openEnd struct {
	closing chan struct{}
	closed  bool
}

func (b *openEnd) Read([]byte) (int, error) {
	<-b.closing
	return 0, io.ErrClosedPipe
}

func (b *openEnd) Close() error {
	close(b.closing)
	time.Sleep(20 * time.Millisecond)
	b.closed = true
	return nil
}

func TestDrainWaitsUntilTheBodyIsClosed(t *testing.T) {
	t.Parallel()
	b := &openEnd{closing: make(chan struct{})}
	drain(b)
	require.True(t, b.closed)
}
