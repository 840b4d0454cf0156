package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// human gives the answers that a person gave while the agent acted.
func (r Record) human() episode.Human {
	var approvals []bool
	var replies []Question
	for _, c := range r.Calls {
		if c.Tool != nil && c.Tool.Approved != nil {
			approvals = append(approvals, *c.Tool.Approved)
		}
		if c.Ask != nil && !c.Ask.GiveUp {
			replies = append(replies, *c.Ask)
		}
	}
	return func(_ context.Context, q episode.Question) (episode.Answer, bool) {
		switch {
		case q.Call != nil && len(approvals) > 0:
			approved := approvals[0]
			approvals = approvals[1:]
			return episode.Answer{Approved: approved}, true
		case q.Call == nil && len(replies) > 0:
			reply := replies[0]
			replies = replies[1:]
			return episode.Answer{Text: reply.Answer}, !reply.Silent
		}
		return episode.Answer{}, false
	}
}

// tools are Go functions that give the recorded results of those of tools: a call that was
// executed while the agent acted is not executed again.
func (r Record) tools(tools map[string]episode.ToolFunc) map[string]episode.ToolFunc {
	results := map[string][]tool.Result{}
	for _, c := range r.Calls {
		if c.Tool != nil && c.Tool.Own != nil {
			results[c.Tool.Name] = append(results[c.Tool.Name], *c.Tool.Own)
		}
	}
	out := map[string]episode.ToolFunc{}
	for name := range tools {
		out[name] = func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			if len(results[name]) == 0 {
				return tool.Result{}, errors.New("its result is not in the record of the agent; record the episode again")
			}
			res := results[name][0]
			results[name] = results[name][1:]
			if res.Outcome != tool.OK {
				res.Value = nil // on the cassette it is null
			}
			return res, nil
		}
	}
	return out
}

// useUp takes what is not a turn from a replay: the record, lists of models, counts of tokens.
func (r Record) useUp(rec *recorder.Recorder) error {
	var digests []string
	for _, c := range r.Calls {
		if c.Model != nil && c.Model.free() {
			digests = append(digests, c.Model.Digest)
		}
	}
	if last := rec.Recording(""); last != nil && last.Request.URL == address {
		digests = append(digests, last.Digest)
	}
	for _, digest := range digests {
		resp, err := recorded(context.Background(), rec, digest)
		if err != nil {
			return err
		}
		_ = resp.Body.Close() // only read: nothing can be lost
	}
	return nil
}

// recorded returns the next recorded reply to a request.
func recorded(ctx context.Context, rec *recorder.Recorder, digest string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(recorder.WithDigest(ctx, digest), http.MethodPost, "http://recorded.invalid/", http.NoBody)
	if err != nil {
		return nil, err
	}
	return rec.RoundTrip(req)
}

// Wires read replies. They are safe for concurrent use.
type Wires struct {
	// Factories are all wires, by provider.
	Factories map[string]providers.Factory
	Prices    price.Table
	Day       time.Time
}

// read reads a reply through the wire of its request. The error and what is known with it
// are those of providers.Model.
func (w Wires) read(ctx context.Context, c *ModelCall, send func() (*http.Response, error)) (providers.Reply, error) {
	var body bytes.Buffer
	if get := send; c.Kind == gateway.Embeddings {
		send = func() (*http.Response, error) {
			resp, err := get()
			if err == nil {
				resp.Body = copied{resp.Body, &body}
			}
			return resp, err
		}
	}
	factory := w.Factories[c.Wire]
	if factory == nil {
		return providers.Reply{}, errors.New("no wire of this program reads replies to " + c.Wire)
	}
	reply, err := gateway.DecodeFrom(ctx, factory, c.Model, c.Stream, send)
	if failed := (*fault.Error)(nil); c.Kind == gateway.Embeddings && errors.As(err, &failed) && failed.Status < 300 && body.Len() > 0 {
		return embedded(body.Bytes()), nil // a wire reads no vectors
	}
	w.Prices.Settle(c.Provider, c.Model, &reply, w.Day)
	return reply, err
}

// again is the model of a recorded call.
type again struct {
	wires Wires
	call  *ModelCall
	rec   *recorder.Recorder
}

// Call implements providers.Model.
func (a again) Call(ctx context.Context, _ providers.Call) (providers.Reply, error) {
	return a.wires.read(ctx, a.call, func() (*http.Response, error) { return recorded(ctx, a.rec, a.call.Digest) })
}

// copied is a body that is copied as it is read.
type copied struct {
	io.ReadCloser
	to *bytes.Buffer
}

// Read implements io.Reader.
func (c copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.to.Write(p[:n])
	return n, err
}

// embedded reads the usage of embeddings: of the form of OpenAI, or of Ollama. Other forms
// report none.
func embedded(body []byte) (reply providers.Reply) {
	var read struct {
		Model string
		Usage *struct {
			Tokens int64 `json:"prompt_tokens"`
		}
		Count *int64 `json:"prompt_eval_count"`
	}
	_ = json.Unmarshal(body, &read) // what is missing is unknown
	reply.Status, reply.Model, reply.Finish = http.StatusOK, read.Model, providers.FinishStop
	switch {
	case read.Usage != nil:
		reply.Usage = providers.Usage{Reported: true, Input: read.Usage.Tokens}
	case read.Count != nil:
		reply.Usage = providers.Usage{Reported: true, Input: *read.Count}
	}
	return reply
}
