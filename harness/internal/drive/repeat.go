package drive

import (
	"context"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// Repeated is an episode that took place elsewhere: its machine makes the same calls again.
type Repeated struct {
	Machine RepeatingMachine
	// Replay has the exchanges; nil if there are none.
	Replay *recorder.Recorder
	// Err is why the episode has no result; nil if it has one. Failure says what its agent did
	// wrong, Hosts which other hosts it tried to reach.
	Err     error
	Failure string
	Hosts   []string
}

// RepeatingMachine is a machine that knows the outcome of its model calls.
type RepeatingMachine interface {
	agent.Machine
	// Made returns the model call of a command.
	Made(command int) MadeCall
}

// MadeCall is a model call that was made. Asked returns its prompt, for people.
type MadeCall struct {
	Provider, Model string
	Stream          bool
	Answer          providers.Model
	Asked           func() (system string, messages []providers.Message)
}

// Repeat runs an episode again that ended a moment ago, if the mode is not replay, and
// returns its rows.
func (v *Env) Repeat(ctx context.Context, p *Planned, r Repeated, trace func(episode.Trace)) ledger.EpisodeRows {
	w := *v
	w.Mode, w.Control, w.Answers = recorder.Replay, nil, NewAnswerBook()
	e := w.newDriver(p, trace)
	e.helpers = v
	e.rows.key.Replayed = v.Mode == recorder.Replay
	if r.Replay != nil && r.Machine != nil {
		e.machine, e.recorder, e.rows.priceDay = r.Machine, r.Replay, v.PriceDay(r.Replay)
		begin(context.Background(), e)
	}
	if r.Err != nil {
		failOpen(ctx, e, r.Err)
	}
	rows := e.close(ctx)
	if rows.Episode.Hosts = r.Hosts; rows.Episode.ErrorText == "" {
		rows.Episode.ErrorText = clip.Bytes(r.Failure, 500)
	}
	return v.clean(rows)
}

// made makes a call that was made.
func (m *modelCall) made(e *driver, c MadeCall) {
	m.before, m.Call.Stream = &c, c.Stream
	t := &e.rows.turns[m.row]
	t.Provider, t.Model = c.Provider, c.Model
	if e.trace != nil {
		m.Call.System, m.Call.Messages = c.Asked()
	}
}

// World is the world of an episode that takes place elsewhere, with the ways to run tools.
type World struct{ e *driver }

// OpenWorld opens the world of an episode whose exchanges rec records.
func (v *Env) OpenWorld(ctx context.Context, p Planned, rec *recorder.Recorder) (w World, err error) {
	e := v.newDriver(&p, nil)
	e.recorder, e.people = rec, newPeople(e)
	if e.headers, _, err = ToolHeaders(e.Suite, e.Task, e.Tools, e.LookupEnv); err == nil {
		err = openWorld(ctx, e)
	}
	return World{e}, err
}

// Run runs a tool at a virtual time since the start. An error ends the episode.
func (w World) Run(ctx context.Context, call tool.Call, at time.Duration) (tool.Result, error) {
	w.e.clock = w.e.Task.World.Now.Add(at)
	key, _, _ := tool.Key(call) // arguments without one are refused
	carryOutTool(ctx, w.e, agent.CallTool{Call: call, Key: key})
	done := w.done()
	returned, ok := done.event.(agent.ToolReturned)
	if !ok && done.failure == nil {
		done.failure = ctx.Err()
	}
	return returned.Result, done.failure
}

// done is the outcome of the only command. The wait for a person is left out.
func (w World) done() completion {
	done, _ := w.e.calls.next()
	for done.late != nil {
		done = done.late()
	}
	return done
}

// Ask asks the user.
func (w World) Ask(ctx context.Context, question string) (reply string, silent bool) {
	ask(ctx, w.e, agent.AskUser{Question: question})
	said, ok := w.done().event.(agent.UserReplied)
	return said.Text, said.Silent || !ok
}

// Close closes the world.
func (w World) Close() error {
	closeServers(w.e)
	return w.e.world.Close()
}

type transportKey struct{}

// WithTransport returns a context whose requests a transport sends, below the recorder.
func WithTransport(ctx context.Context, t http.RoundTripper) context.Context {
	return context.WithValue(ctx, transportKey{}, t)
}
