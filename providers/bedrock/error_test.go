package bedrock

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestKinds(t *testing.T) {
	header := func(typ string) http.Header { return http.Header{"X-Amzn-Errortype": {typ}} }
	for _, c := range []struct {
		name  string
		fault wire.Fault
		want  fault.Kind
	}{
		{"streamed throttling", wire.Fault{Status: 200, Type: "throttlingException"}, fault.RateLimit},
		{"streamed model error", wire.Fault{Status: 200, Type: "modelStreamErrorException"}, fault.Overloaded},
		{"streamed server error", wire.Fault{Status: 200, Type: "internalServerException"}, fault.Overloaded},
		{"streamed outage", wire.Fault{Status: 200, Type: "serviceUnavailableException"}, fault.Overloaded},
		{"streamed validation", wire.Fault{Status: 200, Type: "validationException"}, fault.InvalidRequest},
		{"streamed timeout", wire.Fault{Status: 200, Type: "modelTimeoutException"}, fault.TimedOut},
		{"streamed, unknown", wire.Fault{Status: 200, Type: "otherException"}, fault.Overloaded},
		{"a day's tokens", wire.Fault{Status: 429, Header: header("ThrottlingException"), Message: "Too many tokens per day, please wait before trying again."}, fault.Quota},
		{"a minute's tokens", wire.Fault{Status: 429, Header: header("ThrottlingException"), Message: "Too many tokens, please wait before trying again."}, fault.RateLimit},
		{"a day's tokens, without a type", wire.Fault{Status: 429, Message: "Too many tokens per day"}, fault.Quota},
		{"no such model, without a type", wire.Fault{Status: 400, Message: "The provided model identifier is invalid."}, fault.NotFound},
		{"a type in the body", wire.Fault{Status: 400, Code: "ServiceQuotaExceededException"}, fault.Quota},
		{"input too long", wire.Fault{Status: 400, Header: header("ValidationException"), Message: "Input is too long for requested model."}, fault.ContextLength},
		{"prompt too long, model's words", wire.Fault{Status: 400, Header: header("ValidationException"), Message: "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum"}, fault.ContextLength},
		{"no such model", wire.Fault{Status: 400, Header: header("ValidationException:http://x/"), Message: "The provided model identifier is invalid."}, fault.NotFound},
		{"filtered", wire.Fault{Status: 400, Header: header("ValidationException"), Message: "Output blocked by content filtering policy"}, fault.Refused},
		{"no access", wire.Fault{Status: 403, Header: header("AccessDeniedException"), Message: "You don't have access to the model with the specified model ID."}, fault.Auth},
		{"unpaid", wire.Fault{Status: 403, Header: header("AccessDeniedException"), Message: "Model access is denied due to INVALID_PAYMENT_INSTRUMENT: pay"}, fault.Quota},
		{"end of life", wire.Fault{Status: 404, Header: header("ResourceNotFoundException"), Message: "This model version has reached the end of its life."}, fault.NotFound},
		{"timeout", wire.Fault{Status: 408, Header: header("ModelTimeoutException")}, fault.TimedOut},
		{"424 without a type", wire.Fault{Status: 424}, fault.Overloaded},
		{"nothing but a status", wire.Fault{Status: 503}, ""},
		{"a long prompt is the model's matter, not the server's", wire.Fault{Status: 500, Header: header("InternalServerException"), Message: "context window"}, fault.Overloaded},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, kindOf(c.fault)) })
	}
}

// asked makes a streamed call that is answered with a body.
func asked(t *testing.T, body io.Reader) (providers.Reply, *fault.Error) {
	t.Helper()
	m, err := New(providers.Options{Region: "us-east-1", HTTP: &http.Client{Transport: testkit.Body(body)}})
	require.NoError(t, err)
	reply, err := m.Call(context.Background(), providers.Call{Model: "m", Stream: true})
	var e *fault.Error
	if err != nil {
		require.ErrorAs(t, err, &e)
	}
	return reply, e
}

// Damage in transit, an early end and a failure of the model are different errors.
func TestHowStreamsFail(t *testing.T) {
	begin := events(t, "messageStart", `{"role":"assistant"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"half"}}`)
	stop := events(t, "messageStop", `{"stopReason":"end_turn"}`)
	meta := events(t, "metadata", `{"usage":{"inputTokens":1,"outputTokens":2}}`)
	wrong := bytes.Clone(meta)
	wrong[len(wrong)-1] ^= 1
	join := func(parts ...[]byte) io.Reader { return bytes.NewReader(bytes.Join(parts, nil)) }
	for _, c := range []struct {
		name     string
		body     io.Reader
		kind     fault.Kind
		code     string
		reported bool
	}{
		{"whole", join(begin, stop, meta), "", "", true},
		{"ends without metadata", join(begin, stop), "", "", false},
		{"reset after the end", io.MultiReader(join(begin, stop, meta), iotest.ErrReader(errors.New("reset"))), "", "", true},
		{"reset before the metadata", io.MultiReader(join(begin, stop), iotest.ErrReader(errors.New("reset"))), fault.Transport, "", false},
		{"ends between frames", join(begin), fault.Transport, "", false},
		{"ends within the metadata", join(begin, stop, meta[:len(meta)-5]), fault.Transport, "", false},
		{"wrong checksum", join(begin, stop, wrong), fault.Transport, "", false},
		{"throttled", join(begin, framed(t, "exception", "throttlingException", `{"message":"m"}`)), fault.RateLimit, "throttlingException", false},
		{"failed", join(begin, framed(t, "exception", "modelStreamErrorException", `{"message":"m"}`)), fault.Overloaded, "modelStreamErrorException", false},
		{"no JSON", join(begin, events(t, "contentBlockDelta", `{"delta":}`)), fault.Malformed, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply, e := asked(t, c.body)
			require.Equal(t, "half", reply.Text)
			require.Equal(t, c.reported, reply.Usage.Reported)
			if c.kind == "" {
				require.Nil(t, e)
				require.Equal(t, providers.FinishStop, reply.Finish)
				return
			}
			require.NotNil(t, e)
			require.Equal(t, c.kind, e.Kind, "%v", e)
			require.Equal(t, c.code, e.Code)
			require.True(t, e.Partial)
		})
	}
}
