// Package drive runs one episode: it executes the commands of an agent machine on a virtual
// clock and builds the ledger rows.
package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/goldens/toolserver/session"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/scripted"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// driver drives the agent machine of one candidate × task × trial. It executes commands,
// advances the virtual clock by their duration, and feeds the outcomes back ordered by
// arrival time, then by command id, so that the result does not depend on goroutines. Tools
// and questions run one after another in the order they are issued; model calls of a live
// run overlap with everything else in real time, too.
type driver struct {
	*Env
	*Planned
	id       string
	ids      *ids
	clock    time.Time // virtual
	machine  agent.Machine
	model    providers.Model
	recorder *recorder.Recorder     // nil for a scripted candidate without a world process or HTTP tool
	history  *history               // nil unless the episode is a fork
	missing  error                  // the reason why a scripted candidate has no recorder
	world    *world.Environment     // nil until it is open
	headers  map[string]http.Header // of HTTP tools, with credentials; nil in replay
	servers  map[string]*session.Session
	endTurn  func() // of using the servers; nil in replay
	helpers  *Env   // asks the models of helpers: the run's own
	rows     rowBuilder
	issued   int // the id of the last command
	calls    pendingCalls
	people   people
	// abandoned are outcomes that arrived too late for the machine.
	abandoned []completion
	finish    *agent.Finish
	// failedBy is the command whose failure ended the episode without a result; 0 if
	// there is none.
	failedBy int
	trace    func(episode.Trace)
}

// Run runs one episode to its end. Its rows are always complete: a failure is an episode
// with status error. trace, if not nil, is called with each event in order.
func (v *Env) Run(ctx context.Context, p *Planned, trace func(episode.Trace)) ledger.EpisodeRows {
	if p.Candidate.Agent == strategy.External {
		return v.External(ctx, v, p, trace)
	}
	ctx, end := v.Batches.Open(ctx)
	defer end()
	e := v.newDriver(p, trace)
	if err := e.open(); err != nil {
		failOpen(ctx, e, err)
	} else {
		begin(ctx, e)
	}
	return v.clean(e.close(ctx))
}

// begin opens the world and drives the episode.
func begin(ctx context.Context, e *driver) {
	if err := openWorld(ctx, e); err != nil {
		failOpen(ctx, e, err)
	} else {
		e.drive(ctx)
	}
}

// newDriver returns the driver of an episode that is not open.
func (v *Env) newDriver(p *Planned, trace func(episode.Trace)) *driver {
	e := &driver{Env: v, helpers: v, Planned: p, ids: newIDs(p.Seed), clock: p.Task.World.Now, trace: trace}
	e.id = e.ids.next(e.clock)
	e.rows = newRowBuilder(p, e.id, v)
	return e
}

// drive feeds the machine until it finishes.
func (e *driver) drive(ctx context.Context) {
	e.people = newPeople(e)
	e.feed(ctx, agent.Started{At: e.clock}, nil)
	for e.finish == nil {
		next, ok := e.calls.next()
		if !ok && awaitInput(e) {
			continue
		}
		if !ok {
			e.fail(errors.New("the agent machine neither issued a command nor finished: this is a bug in the strategy"))
			return
		}
		e.clock = next.at
		if next.late != nil {
			e.calls.add(next.late())
			continue
		}
		if next.failure != nil {
			e.fail(next.failure)
			e.failedBy = next.id
			return
		}
		switch next.event.(type) {
		case agent.Deadline, agent.Cancelled: // end all pending calls
			e.abandoned = append(e.abandoned, e.calls.takeAll()...)
		}
		e.feed(ctx, next.event, next.apply)
		if _, failed := next.event.(agent.ModelFailed); failed && e.finish != nil && e.finish.Err != nil {
			e.failedBy = next.id
		}
	}
}

func (e *driver) fail(err error) { e.finish = &agent.Finish{Status: agent.Failed, Err: err} }

// open creates the model and the recorder below it, the world and the HTTP tools.
func (e *driver) open() (err error) {
	if e.HistoryErr != nil {
		return e.HistoryErr
	}
	if e.machine, err = e.newMachine(); err != nil {
		return err
	}
	if e.Mode != recorder.Replay {
		if e.headers, _, err = ToolHeaders(e.Suite, e.Task, e.Tools, e.LookupEnv); err != nil {
			return err
		}
	}
	if e.Cassette != "" {
		e.recorder, err = e.NewRecorder(*e.Planned)
	}
	if e.Candidate.Provider == episode.ScriptedCandidate {
		if _, ok := errors.AsType[*cassette.MissingError](err); ok { // fatal only once a tool is called
			e.recorder, e.missing, err = nil, err, nil
		}
		e.model = scripted.New(script(e.Task))
		return err
	}
	if err != nil {
		return err
	}
	e.rows.priceDay = e.PriceDay(e.recorder)
	retry := sleepUnlessJournaled(e.retryPolicy(uint64(e.Seed.Int64())), e.recorder)
	if e.model, err = e.wire(*e.Planned, e.recorder, e.recorder, e.rows.priceDay, retry, e.lane(e.Candidate, e.Key)); err != nil {
		return err
	}
	return e.openHistory()
}

// feed steps the machine and starts the commands that it issues.
func (e *driver) feed(ctx context.Context, ev agent.Event, apply func(agent.Ready, bool)) {
	ready, err := e.step(ev)
	e.rows.past = inPast(e)
	if apply != nil {
		apply(ready, true)
	}
	if err != nil {
		e.fail(err)
		return
	}
	e.rows.used = ready.Used
	if ready.Background {
		startedInBackground(e)
	}
	if ready.Tasks != nil {
		e.rows.tasks = ready.Tasks
	}
	for _, u := range ready.Updates {
		e.emit(episode.Trace{Update: &u})
	}
	if _, stop := ev.(agent.Cancelled); stop { // regardless of the commands
		e.finish = &agent.Finish{Status: agent.Interrupted}
		return
	}
	if err := fatal(ev); err != nil { // including an error
		e.fail(err)
		return
	}
	for _, c := range ready.Commands {
		if err := e.carryOut(ctx, c, len(ready.Commands) == 1); err != nil {
			e.fail(err)
			return
		}
		if _, finish := c.(agent.Finish); e.finish != nil && !finish {
			return // a helper failed, or the run ends; the rest is not started
		}
	}
}

// step steps the machine.
func (e *driver) step(ev agent.Event) (ready agent.Ready, err error) {
	ready.Used = e.rows.used // in case it panics
	defer e.guardOwn(ev, &err)
	return e.machine.Step(ev), nil
}

// carryOut starts a command; alone is set if it is the only one of its step.
func (e *driver) carryOut(ctx context.Context, c agent.Command, alone bool) error {
	if f, ok := c.(agent.Finish); ok {
		e.finish = &f
		return nil
	}
	if err := e.issue(c); err != nil {
		return err
	}
	switch c := c.(type) {
	case agent.AskUser:
		e.rows.pass(c.ID, c.Parent)
		ask(ctx, e, c)
	case agent.Listen:
		e.rows.pass(c.ID, c.Parent)
		listen(ctx, e, c)
	case agent.CallTool:
		carryOutTool(recorder.Ordered(ctx, c.ID), e, c)
	case agent.Wait:
		at := e.clock.Add(max(0, c.For))
		e.rows.pass(c.ID, c.Parent)
		e.calls.add(completion{at: at, id: c.ID, event: agent.Waited{At: at, ID: c.ID}})
	case agent.CallModel:
		e.start(recorder.Ordered(ctx, c.ID), prepare(e, c), alone)
	}
	return nil
}

// sequential reports whether model calls are made one after another: those of a script,
// which has one order, and those of a cassette, which answers equal requests in order. A
// replay with a speed runs them in parallel if no requests are equal.
func (e *driver) sequential() bool {
	switch {
	case e.Candidate.Provider == episode.ScriptedCandidate || e.rows.past != nil || e.recorder == nil:
		return true
	case e.rows.live:
		return false
	}
	return e.Speed == 0 || e.recorder.Repeats()
}

// start makes a model call, without a goroutine if it is alone.
func (e *driver) start(ctx context.Context, call *modelCall, alone bool) {
	if e.sequential() || alone && e.calls.empty() {
		e.calls.add(call.run(ctx, e))
		return
	}
	e.calls.start(call, func() completion { return call.run(ctx, e) })
}

// maxCommands bounds an episode whose budgets do not end it.
const maxCommands = 100_000

// issue checks the id of a command, because outcomes are ordered by it.
func (e *driver) issue(c agent.Command) error {
	var id, parent int
	switch c := c.(type) {
	case agent.CallModel:
		id, parent = c.ID, c.Parent
	case agent.CallTool:
		id, parent = c.ID, c.Parent
	case agent.AskUser:
		id, parent = c.ID, c.Parent
	case agent.Listen:
		id, parent = c.ID, c.Parent
	case agent.Wait:
		id, parent = c.ID, c.Parent
	}
	switch last := e.issued; {
	case e.finish != nil:
		return fmt.Errorf("the agent machine issued %T after Finish: this is a bug in the strategy", c)
	case id <= last || parent < 0 || parent > last:
		return fmt.Errorf("the agent machine issued %T with id %d and parent %d after command %d: ids ascend from 1, and a parent is an earlier one or 0; this is a bug in the strategy", c, id, parent, last)
	case id > maxCommands:
		return fmt.Errorf("the agent machine issued command %d of at most %d: let its budgets end it", id, maxCommands)
	}
	e.issued = id
	return nil
}

// fatal is a failure of a call that ends the episode even if its machine would continue,
// because it does not depend on the candidate and a replay would not repeat it: a cap of
// the run, or a request that is not on the cassette. It is nil for any other event.
func fatal(ev agent.Event) error {
	failed, ok := ev.(agent.ModelFailed)
	if !ok {
		return nil
	}
	if _, miss := errors.AsType[*recorder.MissError](failed.Err); miss || errors.Is(failed.Err, admission.ErrCapped) {
		return failed.Err
	}
	return nil
}

// actionID returns the ULID of a command; ids ascend in the order of commands.
func (e *driver) actionID(command int, at time.Time) string {
	id := e.ids.next(at)
	e.rows.actions[command] = id
	return id
}

func (e *driver) emit(t episode.Trace) {
	if e.trace != nil {
		e.trace(t)
	}
}

// finishAbandoned completes the rows of abandoned calls, because their tokens are paid for.
// If a call was cancelled with the run, the episode has no result even if its machine had
// finished, because the reply is not on the cassette.
func (e *driver) finishAbandoned() {
	e.abandoned = append(e.abandoned, e.calls.takeAll()...)
	slices.SortFunc(e.abandoned, completion.compare)
	for _, c := range e.abandoned {
		if c.apply != nil {
			c.apply(agent.Ready{Used: e.rows.used}, false)
		}
		if _, cancelled := c.event.(agent.Cancelled); cancelled && e.finish.Err == nil {
			e.finish = &agent.Finish{Status: agent.Interrupted}
		}
	}
	e.abandoned = nil
	if e.recorder == nil {
		return
	}
	if at := e.recorder.Positions(); at != nil {
		for i := range e.rows.turns {
			if t := &e.rows.turns[i]; t.Interaction >= 0 {
				t.Interaction = int32(at[t.Interaction])
			}
		}
	}
}

// close closes the world, seals the cassette and builds the rows.
func (e *driver) close(ctx context.Context) ledger.EpisodeRows {
	e.finishAbandoned()
	if e.world != nil {
		if err := e.world.Close(); err != nil && e.finish.Err == nil && e.finish.Status != agent.Interrupted {
			e.fail(fmt.Errorf("close the world: %w", err))
		}
	}
	closeServers(e)
	var scores map[string]scorer.Result
	if e.finish.Err == nil && e.finish.Status != agent.Interrupted {
		var err error
		if scores, err = score(ctx, e); err != nil {
			failHelper(ctx, e, e.issued+1, err)
		}
	}
	f := *e.finish
	digest := ""
	if e.recorder != nil {
		if f.Err == nil && f.Status != agent.Interrupted {
			f.Err = e.seal()
		} else if e.failedBy > 0 && !errors.Is(f.Err, admission.ErrCapped) {
			e.recorder.Source().Retract(e.failedBy) // a resumed run sends it again
		}
		digest = e.recorder.Digest()
	}
	o := e.rows.outcome(f, e.clock)
	o.Scores = scores
	e.emit(episode.Trace{Finish: &f, Outcome: &o})
	return e.rows.episode(f, o, digest)
}

// seal saves the recording or, in replay, finds unused recordings.
func (e *driver) seal() error {
	if n := e.recorder.Leftover(); n > 0 {
		return &episode.StaleError{Path: e.Cassette, Unused: n, Command: e.commandOf(*e.Planned)}
	}
	err := e.recorder.Save()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("max_seconds ended a call before its reply, and a cassette stores complete exchanges only; raise the budget, or use live mode, where the episode counts as stopped: %w", err)
	}
	return err
}
