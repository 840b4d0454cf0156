package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/openai"
)

// The fingerprint is always kept. Log probabilities are kept only if they were
// requested, in complete and streamed replies, and are not requested from models that
// refuse them.
func TestFingerprintAndLogProbs(t *testing.T) {
	const token = `{"token":"a","logprob":%s,"bytes":[97],"top_logprobs":[]}`
	probs := func(values ...string) string {
		list := ""
		for i, v := range values {
			if i > 0 {
				list += ","
			}
			list += fmt.Sprintf(token, v)
		}
		return `{"content":[` + list + `],"refusal":null}`
	}
	var sent, logprobs string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if sent = string(body); r.URL.Query().Get("stream") != "" {
			for _, p := range []string{probs("-0.5"), "null", probs("-0.1", "-0.3")} {
				_, _ = fmt.Fprintf(w, `data: {"model":"m-1","system_fingerprint":"fp_7","choices":[{"index":0,"delta":{"content":"a"},"logprobs":%s}]}`+"\n\n", p)
			}
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		_, _ = fmt.Fprintf(w, `{"model":"m-1","system_fingerprint":"fp_7","choices":[{"index":0,"message":{"content":"abc"},"finish_reason":"stop","logprobs":%s}]}`, logprobs)
	}))
	defer server.Close()
	ask := func(call providers.Call) providers.Reply {
		o := providers.Options{BaseURL: server.URL}
		if call.Stream {
			o.Query = map[string]string{"stream": "1"}
		}
		model, err := openai.New(o)
		require.NoError(t, err)
		call.Messages = []providers.Message{{Role: providers.RoleUser, Text: "x"}}
		reply, err := model.Call(context.Background(), call)
		require.NoError(t, err)
		return reply
	}
	logprobs = probs("-0.5", "-0.1", "-0.3")
	for _, stream := range []bool{false, true} {
		reply := ask(providers.Call{Model: "m", LogProbs: true, Stream: stream})
		require.Contains(t, sent, `"logprobs":true`)
		require.Equal(t, "fp_7", reply.Fingerprint)
		require.InDelta(t, -0.3, *reply.LogProb, 1e-12)
		reply = ask(providers.Call{Model: "m", Stream: stream})
		require.NotContains(t, sent, "logprobs")
		require.Nil(t, reply.LogProb)
	}
	for _, other := range []string{`null`, `{}`, `{"content":null}`, `{"tokens":["a"],"token_logprobs":[-0.1]}`, `"none"`, probs("0.5"), probs("-1e300")} {
		logprobs = other
		require.Nil(t, ask(providers.Call{Model: "m", LogProbs: true}).LogProb, other)
	}
	reply := ask(providers.Call{Model: "o3", LogProbs: true})
	require.NotContains(t, sent, "logprobs")
	require.Contains(t, reply.Warnings, "logprobs: not taken by reasoning models, not sent")
}
