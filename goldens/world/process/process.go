// Package process makes worlds that a command implements: a program that speaks JSON lines
// on its standard input and output, or an MCP server. docs/worlds.md describes the protocol
// and shows an adapter for Python environments.
//
// Every request of a world to its command goes through an http.RoundTripper, as a POST to
// http://world.invalid/METHOD. Put a recorder between the world and a local.Transport, and
// the recorder's replay answers all requests without the command.
package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lines"
	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// DefaultTimeout bounds the start of a command and each of its answers, unless Kind.Timeout
// is set.
const DefaultTimeout = 10 * time.Second

// MaxState bounds the state of a world, in bytes of JSON.
const MaxState = world.MaxState

// maxMessage bounds the message of a refusal, and the reason of a harm, in bytes.
const maxMessage = 4 << 10

// Kind is a world.Kind whose worlds a command implements. Each world has a process of its
// own, which starts with the first request that reaches it. A Kind is not changed after its
// first use and is then safe for concurrent use.
type Kind struct {
	// Command is the program and its arguments; it is not run by a shell.
	Command []string
	// Dir is the folder in which the command runs.
	Dir string
	// MCP reports that the command is an MCP server with the extra methods reset and state.
	MCP bool
	// Timeout bounds the start and each answer; 0 means DefaultTimeout.
	Timeout time.Duration
	// Env names the environment variables that the command gets besides the ones that
	// docs/worlds.md lists. Runs treat their values as credentials.
	Env []string
	// Lookup finds the variables of Env, such as os.LookupEnv; nil finds none.
	Lookup func(name string) (string, bool)
	// Transport sends the requests of the worlds: a recorder over a local.Transport. nil
	// means a local.Transport alone.
	Transport http.RoundTripper
	// Pool has the processes of ended worlds; nil starts a process for each world.
	Pool *Pool
}

// Tools implements world.Kind: the tools are known only to the command; see List.
func (k Kind) Tools() []tool.Spec { return nil }

// Open implements world.Kind. The command gets the initial state with the request reset.
func (k Kind) Open(ctx context.Context, s world.Start) (world.World, error) {
	w := k.open()
	w.zone = s.Zone
	var state any
	if s.State != nil {
		state = digest(s.State)
	}
	type reset struct {
		State any    `json:"state"`
		Now   string `json:"now"`
		Zone  string `json:"zone"`
		Seed  uint64 `json:"seed"`
	}
	now, zone := clock(s.Now.In(s.Zone)), s.Zone.String()
	// The recorded request holds the digest of the state, which may be large.
	_, err := w.ask(ctx, "reset", reset{s.State, now, zone, s.Seed}, reset{state, now, zone, s.Seed})
	if err != nil {
		_ = w.Close() // its process failed already, or was never started
		return nil, err
	}
	return w, nil
}

// List starts the command, asks it for its tools and ends it. A tool that is declared
// without a schema takes any object.
func (k Kind) List(ctx context.Context) ([]tool.Spec, error) {
	w := k.open()
	answer, err := w.ask(ctx, "tools", struct{}{}, struct{}{})
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name, Description   string
		Schema, InputSchema json.RawMessage
	}
	if err := json.Unmarshal(answer.Result, &list); err != nil {
		return nil, fmt.Errorf("%s lists its tools: %w; answer with a list of {name, description, schema}", k, err)
	}
	specs := make([]tool.Spec, len(list))
	for i, t := range list {
		specs[i] = tool.Spec{Name: t.Name, Description: t.Description, Schema: json.RawMessage(`{"type":"object"}`)}
		if given := append(t.Schema, t.InputSchema...); given != nil {
			specs[i].Schema = given
		}
	}
	return specs, nil
}

// String names the command in messages.
func (k Kind) String() string { return k.program().String() }

func (k Kind) open() *processWorld {
	if k.Timeout == 0 {
		k.Timeout = DefaultTimeout
	}
	w := &processWorld{transport: k.Transport, host: &host{kind: k}}
	if w.transport == nil {
		w.transport = local.Transport{}
	}
	return w
}

// processWorld is the world of one episode.
type processWorld struct {
	transport http.RoundTripper
	host      *host
	zone      *time.Location
	after     string // digest of the requests that led to the state
}

// Call implements world.World.
func (w *processWorld) Call(ctx context.Context, c tool.Call, at time.Time) (world.Effect, error) {
	args := c.Args // as the model wrote them: to some programs the order of keys matters
	if text := bytes.TrimSpace(args); len(text) == 0 || string(text) == "null" {
		args = json.RawMessage(`{}`)
	}
	params := struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Now       string          `json:"now"`
	}{c.Name, args, clock(at.In(w.zone))}
	answer, err := w.ask(ctx, "call", params, params)
	if err != nil {
		return world.Effect{}, err
	}
	if e := answer.Error; e != nil {
		return world.Effect{Result: tool.Result{
			Outcome: tool.Error, Code: e.code(), Message: clip.Bytes(e.Message, maxMessage),
		}}, nil
	}
	value, err := canonical(answer.Result)
	if err != nil {
		return world.Effect{}, fmt.Errorf("%s answers a call of %s: not JSON with unique names: %w", w.host.kind, tool.Label(c.Name), err)
	}
	return world.Effect{
		Result:  tool.Result{Outcome: tool.OK, Value: value},
		Changed: answer.Changed == nil || *answer.Changed,
		Harm:    clip.Bytes(answer.Harm, maxMessage),
	}, nil
}

// State implements world.World. A command whose state is null has none that can change.
func (w *processWorld) State(ctx context.Context) (json.RawMessage, error) {
	answer, err := w.ask(ctx, "state", struct{}{}, struct{}{})
	if err != nil {
		return nil, err
	}
	state, err := canonical(answer.Result)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s answers state: not JSON with unique names: %w", w.host.kind, err)
	case len(state) > MaxState:
		return nil, fmt.Errorf("%s answers state: longer than %d MiB; leave out what never changes", w.host.kind, MaxState>>20)
	case string(state) == "null":
		return nil, nil
	}
	return state, nil
}

// Close implements world.World: it ends the process and its children.
func (w *processWorld) Close() error { w.host.close(); return nil }

// ask sends one request through the transport: params to the command, shown to a recorder.
// Only the answer to a call may be a refusal.
func (w *processWorld) ask(ctx context.Context, method string, params, shown any) (answer reply, err error) {
	one := request{method: method}
	if one.params, err = plainjson.Marshal(params); err != nil {
		return answer, err
	}
	// With what was asked before, equal requests at different states differ: a recording
	// answers each where it was made.
	body, err := plainjson.Marshal(struct {
		After  string `json:"after,omitempty"`
		Params any    `json:"params"`
	}{w.after, shown})
	if err != nil {
		return answer, err
	}
	text, err := local.Post(ctx, w.transport, "http://"+hostName+"/"+method, body, lines.MaxLine, local.Answer{
		From: "world",
		Make: func(ctx context.Context) ([]byte, error) { return w.host.send(ctx, one) },
		Instead: func() ([]byte, error) {
			return nil, fmt.Errorf("the answer of the world's command to /%s holds a credential and is withheld; leave it out of the answer", method)
		},
	})
	if err != nil {
		return answer, err
	}
	err = json.Unmarshal(text, &answer)
	switch {
	case err != nil:
		return answer, fmt.Errorf("%s, request %s: read the answer: %w", w.host.kind, method, err)
	case answer.Error != nil && method != "call":
		return answer, fmt.Errorf("%s refuses %s: %s: %s; see docs/worlds.md for what it must answer", w.host.kind, method, answer.Error.code(), clip.Bytes(answer.Error.Message, maxMessage))
	}
	if method != "state" {
		one.answer = text
		w.host.past = append(w.host.past, one)
		w.after = digest(append(append([]byte(w.after), method...), body...))
	}
	return answer, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// clock writes a time as commands get it.
func clock(t time.Time) string { return t.Format(time.RFC3339Nano) }

// canonical returns the canonical form of any JSON value: RFC 8785 with exact integers.
func canonical(value json.RawMessage) (json.RawMessage, error) {
	return jsontext.AppendFormat(nil, value, jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawFloats(true))
}
