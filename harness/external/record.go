// Package external runs episodes of agents that decide in a process of their own. A session
// lets such an agent act and keeps a Record of it; a Machine makes the recorded calls again,
// in their order and at their times, so that every mode has the same rows.
package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/otlp"
	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// Record is what an agent did in one episode: every model request, tool call and question,
// in the order in which they began. It is the last exchange of the episode's cassette.
// Nothing in it contains a token, an address of the proxy or a temporary path.
type Record struct {
	Format int    `json:"format"`
	Calls  []Call `json:"calls"`
	End    End    `json:"end"`
}

// recordFormat is the version of Record that is written and read.
const recordFormat = 1

// Call is one call. Exactly one of the pointers is set.
type Call struct {
	// At is the virtual time since the start of the episode, in microseconds.
	At    int64      `json:"at_us"`
	Model *ModelCall `json:"model,omitempty"`
	Tool  *ToolCall  `json:"tool,omitempty"`
	Ask   *Question  `json:"ask,omitempty"`
}

// ModelCall is one request to a model, as it was sent: each attempt is one.
type ModelCall struct {
	// Digest identifies the exchange on the cassette; equal requests are in its order.
	Digest string `json:"digest"`
	// Kind is what is asked for; Wire is the public provider that speaks the API of the
	// request.
	Kind     gateway.Kind `json:"kind"`
	Endpoint string       `json:"endpoint"`
	Wire     string       `json:"wire"`
	// Provider and Model were asked.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Stream   bool   `json:"stream,omitempty"`
	// Offered are the tools of the request that are not the task's.
	Offered []string `json:"offered,omitempty"`
	// Limited is set if the agent sent no output limit, and the proxy added one.
	Limited bool `json:"limited,omitempty"`
	// Abandoned is set if the agent did not read the reply to its end, so that another
	// execution of it may do without the request.
	Abandoned bool `json:"abandoned,omitempty"`
}

// free reports whether a request is not a turn and costs nothing.
func (c *ModelCall) free() bool { return c.Kind == gateway.Count || c.Kind == gateway.Models }

// ToolCall is one call of a tool and its result.
type ToolCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	// Turn is the index in Record.Calls of the model call whose reply proposed it, and Nth
	// the place among the calls of that reply, both from 1; 0 if none proposed it.
	Turn int `json:"turn,omitempty"`
	Nth  int `json:"nth,omitempty"`
	// Refused is set if a budget refused the call.
	Refused bool         `json:"refused,omitempty"`
	Outcome tool.Outcome `json:"outcome"`
	Code    string       `json:"code,omitempty"`
	Message string       `json:"message,omitempty"`
	// Value is the result as canonical text.
	Value json.RawMessage `json:"value,omitempty"`
	// Duration is in microseconds.
	Duration int64 `json:"duration_us"`
	// Own is the result of a Go function, which is not run again.
	Own *tool.Result `json:"own,omitempty"`
	// Approved is what the person said whose approval a recording asked for.
	Approved *bool `json:"approved,omitempty"`
}

// result returns the result of the call.
func (c *ToolCall) result() tool.Result {
	return tool.Result{
		Outcome: c.Outcome, Code: c.Code, Message: c.Message, Value: c.Value, Duration: time.Duration(c.Duration) * time.Microsecond,
	}
}

// Question is a question to the user, or what the agent gave up with.
type Question struct {
	Text   string `json:"text"`
	Answer string `json:"answer,omitempty"`
	// Silent is set if there was no answer; GiveUp if the text is the reason for giving up.
	Silent bool `json:"silent,omitempty"`
	GiveUp bool `json:"give_up,omitempty"`
}

// End is how the agent ended.
type End struct {
	At int64 `json:"at_us"`
	// Answer and Status are the agent's, Failure says why it failed by itself.
	Answer  string `json:"answer,omitempty"`
	Status  string `json:"status,omitempty"`
	Failure string `json:"failure,omitempty"`
	// Stop is the budget that ended it.
	Stop string `json:"stop,omitempty"`
	// Stderr is the end of what it wrote to standard error, Leftover a process that it left.
	Stderr   string `json:"stderr,omitempty"`
	Leftover string `json:"leftover,omitempty"`
	// Hosts are the other hosts that it tried to reach.
	Hosts []string `json:"hosts,omitempty"`
	// Late counts requests after the end.
	Late int `json:"late,omitempty"`
	// Traces are what the agent's traces tell; nil if it sent none. PastProxy counts calls of
	// models in them beyond those at the proxy, OwnTools are tools that are not the task's.
	Traces    *otlp.Seen `json:"traces,omitempty"`
	PastProxy int        `json:"past_proxy,omitempty"`
	OwnTools  []string   `json:"own_tools,omitempty"`
	// Refused are digests of what the agent asked for after a question had ended the episode,
	// at most 64 of them. Where it asks in parallel, another execution may do so before the
	// question.
	Refused []string `json:"refused,omitempty"`
}

// maxRefused bounds End.Refused.
const maxRefused = 64

// digestOf is an entry of End.Refused for a call with a key.
func digestOf(key string) string { return drive.DigestOf("refused", key)[:32] }

// address is that of the exchange on the cassette that is a record.
const address = "http://agent.invalid/record"

// keep puts a record on a cassette, as its last exchange.
func (r Record) keep(rec *recorder.Recorder) error {
	text, err := plainjson.Marshal(r)
	if err == nil {
		rec.Note(address, string(text)+"\n")
	}
	return err
}

// decode reads the record from the last exchange of a cassette, which is untrusted; nil if
// there is none.
func decode(last *cassette.Interaction) (Record, error) {
	var r Record
	var err error
	switch {
	case last == nil || last.Request.URL != address:
		err = errors.New("the cassette does not end with one")
	default:
		err = json.Unmarshal([]byte(last.Request.Body), &r)
	}
	switch {
	case err == nil && r.Format != recordFormat:
		err = fmt.Errorf("format %d is unknown: %d is read", r.Format, recordFormat)
	case err == nil:
		err = r.check()
	}
	if err != nil {
		return r, fmt.Errorf("the record of an external agent: %w; record the episode again", err)
	}
	return r, nil
}

// check says what of a record cannot be carried out.
func (r *Record) check() error {
	last := int64(0)
	for i, c := range r.Calls {
		kinds := 0
		for _, set := range []bool{c.Model != nil, c.Tool != nil, c.Ask != nil} {
			if set {
				kinds++
			}
		}
		switch {
		case kinds != 1:
			return fmt.Errorf("call %d has %d kinds instead of one", i+1, kinds)
		case c.At < last || c.At > int64(maxTime/time.Microsecond):
			return fmt.Errorf("call %d has time %d, after %d", i+1, c.At, last)
		case c.Model != nil && len(c.Model.Digest) != 64:
			return fmt.Errorf("call %d has no digest", i+1)
		case c.Tool != nil && (c.Tool.Turn < 0 || c.Tool.Turn > i || c.Tool.Turn > 0 && r.Calls[c.Tool.Turn-1].Model == nil || c.Tool.Duration < 0):
			return fmt.Errorf("call %d follows from call %d", i+1, c.Tool.Turn)
		}
		last = c.At
	}
	if r.End.At < last || r.End.At > int64(maxTime/time.Microsecond) {
		return errors.New("it ends before its last call")
	}
	return nil
}

// maxTime bounds the times of a record.
const maxTime = 30 * 24 * time.Hour
