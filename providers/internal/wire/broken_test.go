package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// texts reads every frame and every body as text.
type texts struct{}

func (texts) Whole(b *Builder, body []byte) error { b.Text(string(body)); return nil }

func (texts) Frame(b *Builder, f Frame) (bool, error) { b.Text(f.Data); return f.Data == "end", nil }

func exchanged(t *testing.T, d Dialect, a *testkit.Server, framing Framing, ctx context.Context) (providers.Reply, *fault.Error) {
	t.Helper()
	d.Base = "https://service.test"
	c, err := New(d, providers.Options{Provider: "p", HTTP: &http.Client{Transport: a}})
	require.NoError(t, err)
	r, err := c.Do(ctx, providers.Call{Model: "m", Stream: true}, Request{Path: "/x", Body: struct{}{}, Framing: framing}, texts{}, nil)
	var e *fault.Error
	if err != nil {
		require.ErrorAs(t, err, &e)
	}
	return r, e
}

func plainly(Fault) fault.Kind { return "" }

func TestDamagedFramesAreTheTransports(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		kind fault.Kind
	}{
		"damaged":      {fmt.Errorf("frame 2: %w", ErrBroken), fault.Transport},
		"not as meant": {errors.New("no frame"), fault.Malformed},
		"fault":        {&Fault{Status: 200, Code: "429", Message: "m"}, fault.RateLimit},
	} {
		t.Run(name, func(t *testing.T) {
			framing := Framing{Starts: Lines.Starts, Cut: func(_ io.Reader, _ int, f func(Frame) error) error {
				return errors.Join(f(Frame{Data: "half"}), c.err)
			}}
			r, e := exchanged(t, Dialect{Kind: plainly}, &testkit.Server{Status: 200, Body: "frames"}, framing, context.Background())
			require.NotNil(t, e)
			require.Equal(t, c.kind, e.Kind, "%v", e)
			require.True(t, e.Partial)
			require.Equal(t, "half", r.Text)
		})
	}
}

func TestFailureToSign(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		kind fault.Kind
	}{
		"no credentials": {context.Background(), fault.Auth},
		"cancelled":      {cancelled, fault.Transport},
	} {
		t.Run(name, func(t *testing.T) {
			none := errors.New("no credentials")
			a := &testkit.Server{Status: 200, Body: "end"}
			_, e := exchanged(t, Dialect{Kind: plainly, Sign: func(context.Context, *http.Request, []byte) error { return none }}, a, Lines, c.ctx)
			require.NotNil(t, e)
			require.Equal(t, c.kind, e.Kind)
			require.ErrorIs(t, e, none)
			require.Nil(t, a.Got, "nothing may be sent unsigned")
		})
	}
}

func TestKindSeesTheHeaders(t *testing.T) {
	kind := func(f Fault) fault.Kind { return fault.Kind(f.Header.Get("X-Kind")) }
	_, e := exchanged(t, Dialect{Kind: kind}, &testkit.Server{Status: 400, Header: http.Header{"X-Kind": {"quota"}}, Body: "m"}, Lines, context.Background())
	require.NotNil(t, e)
	require.Equal(t, fault.Quota, e.Kind)
	require.Empty(t, e.Code)
}

// TestAFrameThatIsTooLong uses a framing that announces the length of a frame.
func TestAFrameThatIsTooLong(t *testing.T) {
	framing := Framing{Starts: Lines.Starts, Cut: func(_ io.Reader, limit int, f func(Frame) error) error {
		return errors.Join(f(Frame{Data: "half"}), fmt.Errorf("a message of %d bytes: %w", limit+1, bufio.ErrTooLong))
	}}
	r, e := exchanged(t, Dialect{Kind: plainly}, &testkit.Server{Status: 200, Body: "frames"}, framing, context.Background())
	require.NotNil(t, e)
	require.Equal(t, fault.Malformed, e.Kind)
	require.Equal(t, "the reply is longer than 8388608 bytes", e.Message)
	require.True(t, e.Partial)
	require.Equal(t, "half", r.Text)
}
