package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/scripted"
	"github.com/cupel-eval/cupel/recorder"
)

// episode is one candidate × task × trial under way: the driver of an agent
// machine. It carries out commands, advances the virtual clock by what they
// took, and feeds the outcomes back ordered by the time they arrived at, then
// by command id, so that nothing depends on goroutines. Tools and questions are
// carried out at once, one after another in the order they are issued; model
// calls of a live run also in real time overlap with all else.
type episode struct {
	planned
	id       string
	ids      *ids
	clock    time.Time // virtual
	machine  agent.Machine
	model    providers.Model
	recorder *recorder.Recorder // nil for a scripted candidate without HTTP tools
	history  *history           // nil unless the episode is a fork
	missing  error              // why a scripted candidate has no recorder
	world    *goldens.World
	runID    string
	funcs    map[string]ToolFunc
	headers  map[string]http.Header // of HTTP tools, with credentials; nil in replay
	secrets  *recorder.Secrets
	human    Human // nil: the world's
	answers  *answerBook
	rows     rowBuilder
	pace     float64 // of a replay; 0 is at once
	issued   int     // the command issued last
	pending  []completion
	sky      sky
	// abandoned are outcomes that came too late for the machine.
	abandoned []completion
	finish    *agent.Finish
	// failedBy is the command whose failure ended the episode without a result; 0 if
	// there is none.
	failedBy int
	trace    func(Trace)
	observe  func(StreamEvent) // nil if there is no observer
}

// completion is an outcome on its way back to the machine.
type completion struct {
	at time.Time
	id int
	// event is made when the completion is due; apply fills in the row, fed says that
	// the machine has seen it.
	event agent.Event
	apply func(r agent.Ready, fed bool)
	// failure ends the episode in place of an event.
	failure error
}

// runEpisode runs one episode to its end. Its rows are complete whatever
// happens: a failure is an episode with status error.
func (r *runner) runEpisode(ctx context.Context, p planned, trace func(Trace)) ledger.EpisodeRows {
	e := &episode{
		planned: p,
		ids:     newIDs(p.seed),
		clock:   p.task.World.Now,
		world:   goldens.NewWorld(p.task),
		runID:   r.id,
		funcs:   r.Tools,
		answers: r.answers,
		secrets: r.secrets,
		pace:    r.ReplaySpeed,
		trace:   trace,
		observe: r.Observe,
	}
	if r.Mode != recorder.Replay {
		e.human = r.Human
	}
	e.id = e.ids.next(e.clock)
	e.rows = newRowBuilder(p, e.id, r)
	if err := e.open(r); err != nil {
		e.finish = &agent.Finish{Status: agent.Failed, Err: err}
		return e.close(r)
	}
	e.drive(ctx)
	return e.close(r)
}

// drive feeds the machine until it finishes.
func (e *episode) drive(ctx context.Context) {
	e.feed(ctx, agent.Started{At: e.clock}, nil)
	for e.finish == nil {
		next, ok := e.next()
		if !ok {
			e.fail(errors.New("the agent machine waits for nothing: this is a bug in the strategy"))
			return
		}
		e.clock = next.at
		if next.failure != nil {
			e.fail(next.failure)
			e.failedBy = next.id
			return
		}
		switch next.event.(type) {
		case agent.Deadline, agent.Cancelled: // end all that is outstanding
			e.abandon()
		}
		e.feed(ctx, next.event, next.apply)
		if _, failed := next.event.(agent.ModelFailed); failed && e.finish != nil && e.finish.Err != nil {
			e.failedBy = next.id
		}
	}
}

func (e *episode) fail(err error) { e.finish = &agent.Finish{Status: agent.Failed, Err: err} }

// open makes the model and the recorder beneath it and the HTTP tools.
func (e *episode) open(r *runner) (err error) {
	if e.lost != nil {
		return e.lost
	}
	if e.machine, err = e.newMachine(); err != nil {
		return err
	}
	if r.Mode != recorder.Replay {
		if e.headers, _, err = r.toolHeaders(e.task); err != nil {
			return err
		}
	}
	if e.cassette != "" {
		e.recorder, err = r.newRecorder(e.planned)
	}
	if e.candidate.Provider == ScriptedCandidate {
		var missing *recorder.MissingError
		if errors.As(err, &missing) { // fatal only once a tool is called
			e.recorder, e.missing, err = nil, err, nil
		}
		e.model = scripted.New(script(e.task))
		return err
	}
	if err != nil {
		return err
	}
	e.rows.priceDay = r.priceDay(e.recorder)
	retry := e.sleepUnlessJournaled(r.retryPolicy(uint64(e.seed.Int64())))
	if e.model, err = e.wire(e.planned, e.recorder, e.rows.priceDay, retry, r.lane(e.planned)); err != nil {
		return err
	}
	return e.openHistory(r)
}

// script turns a task's emits into a scripted model's steps.
func script(t goldens.Task) []scripted.Step {
	var steps []scripted.Step
	for _, emit := range t.Script {
		step := scripted.Step{Text: emit.Text, WantModel: ScriptedCandidate, CostNanoUSD: emit.CostNanoUSD}
		for _, c := range emit.Calls {
			step.Calls = append(step.Calls, providers.ToolCall{Name: c.Name, Args: c.Args})
		}
		if emit.Tokens != nil {
			step.Usage = providers.Usage{Reported: true, Output: *emit.Tokens}
		}
		if emit.Cut {
			step.Finish = providers.FinishLength
		}
		if emit.Rescue {
			step.WantModel = scriptedRescue
		}
		step.Check = func(c providers.Call) error {
			if emit.Reflect && !agent.IsReflect(c) {
				return errors.New("the script expects a reflect turn here, the prompt asks for none")
			}
			return nil
		}
		steps = append(steps, step)
	}
	return steps
}

// feed steps the machine and starts what it asks for.
func (e *episode) feed(ctx context.Context, ev agent.Event, apply func(agent.Ready, bool)) {
	ready, err := e.step(ev)
	e.rows.past = e.inPast()
	if apply != nil {
		apply(ready, true)
	}
	if err != nil {
		e.fail(err)
		return
	}
	e.rows.used = ready.Used
	for _, u := range ready.Updates {
		e.emit(Trace{Update: &u})
	}
	if _, stop := ev.(agent.Cancelled); stop { // whatever the machine wants
		e.finish = &agent.Finish{Status: agent.Interrupted}
		return
	}
	if err := fatal(ev); err != nil { // likewise
		e.fail(err)
		return
	}
	for _, c := range ready.Commands {
		if err := e.carryOut(ctx, c, len(ready.Commands) == 1); err != nil {
			e.fail(err)
			return
		}
	}
}

// step steps the machine.
func (e *episode) step(ev agent.Event) (ready agent.Ready, err error) {
	ready.Used = e.rows.used // where it panics
	defer e.guardOwn(ev, &err)
	return e.machine.Step(ev), nil
}

// carryOut starts a command; alone says that it is the only one of its step.
func (e *episode) carryOut(ctx context.Context, c agent.Command, alone bool) error {
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
		e.pending = append(e.pending, e.ask(ctx, c))
	case agent.CallTool:
		e.pending = append(e.pending, e.callTool(recorder.Ordered(ctx, c.ID), c))
	case agent.Wait:
		at := e.clock.Add(max(0, c.For))
		e.rows.pass(c.ID, c.Parent)
		e.pending = append(e.pending, completion{at: at, id: c.ID, event: agent.Waited{At: at, ID: c.ID}})
	case agent.CallModel:
		e.start(recorder.Ordered(ctx, c.ID), e.prepare(c), alone)
	}
	return nil
}

// maxCommands bounds an episode whose budgets do not end it.
const maxCommands = 100_000

// issue checks the number of a command: outcomes are fed by it.
func (e *episode) issue(c agent.Command) error {
	var id, parent int
	switch c := c.(type) {
	case agent.CallModel:
		id, parent = c.ID, c.Parent
	case agent.CallTool:
		id, parent = c.ID, c.Parent
	case agent.AskUser:
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

// ask puts a question to the human. Waiting takes no virtual time.
func (e *episode) ask(ctx context.Context, c agent.AskUser) completion {
	a, ok := e.answer(ctx, Question{Text: c.Question})
	if ctx.Err() != nil {
		return completion{at: e.clock, id: c.ID, event: agent.Cancelled{At: e.clock}}
	}
	e.rows.clarifies++
	e.emit(Trace{Question: c.Question, Reply: a.Text, Silent: !ok})
	return completion{at: e.clock, id: c.ID, event: agent.UserReplied{At: e.clock, ID: c.ID, Text: a.Text, Silent: !ok}}
}

// callTool runs a tool, or records an answer the machine already has.
func (e *episode) callTool(ctx context.Context, c agent.CallTool) completion {
	start, action := e.clock, e.actionID(c.ID, e.clock)
	var result tool.Result
	if c.Given != nil {
		result = *c.Given
	} else {
		var err error
		result, err = e.runTool(ctx, c, CallInfo{
			RunID: e.runID, StepID: action, ParentStep: e.rows.actions[c.Parent],
			At: start,
		})
		if ctx.Err() != nil {
			return completion{at: start, id: c.ID, event: agent.Cancelled{At: start}}
		}
		if err != nil {
			return completion{at: start, id: c.ID, failure: err}
		}
	}
	at := start.Add(result.Duration)
	row := e.rows.tool(c, result, action, start, at)
	e.emit(Trace{Tool: &c, Result: &result, Asked: int(e.rows.asked[c.Parent])})
	return completion{
		at: at, id: c.ID, event: agent.ToolReturned{At: at, ID: c.ID, Result: result},
		apply: func(r agent.Ready, _ bool) { e.rows.toolDone(row, r) },
	}
}

// modelCall is a model call about to be made.
type modelCall struct {
	agent.CallModel
	start time.Time
	row   int      // index of its turn row
	past  *history // nil for a turn of the episode's own
	watch recorder.Watch
}

func (e *episode) prepare(c agent.CallModel) *modelCall {
	asked := e.asks()
	switch c.Whom {
	case agent.AskModel:
		c.Call.Model = asked.Model
	case agent.AskRescue:
		c.Call.Model = asked.Rescue
	case agent.AskFallback:
		c.Call.Model = asked.Fallback
	}
	c.Call.Stream = asked.Stream
	row := e.rows.turn(c, e.actionID(c.ID, e.clock), e.clock)
	c.Call.RequestID = e.id + "-" + strconv.Itoa(row+1)
	return &modelCall{CallModel: c, start: e.clock, row: row, past: e.rows.past}
}

// outcome is what came of a model call.
type outcome struct {
	reply providers.Reply
	cost  *int64
	err   error
	seen  []recorder.Exchange
	end   time.Time
	fed   bool // the machine has seen it
}

// run makes the call. Of the episode it reads what does not change while calls are
// under way, and it writes nothing.
func (m *modelCall) run(ctx context.Context, e *episode) completion {
	var seen []recorder.Exchange
	ctx = recorder.Watched(recorder.Observe(ctx, func(x recorder.Exchange) { seen = append(seen, x) }), &m.watch)
	cancel := func() {}
	model := e.model
	if m.past != nil {
		model = m.past.model
	} else if e.rows.live && m.Timeout > 0 {
		ctx, cancel = withBudget(ctx, m.Timeout)
	}
	reply, err := e.watched(m, model).Call(ctx, m.Call)
	defer cancel()
	at := m.start
	for _, x := range seen {
		at = at.Add(x.Duration)
	}
	done := completion{at: at, id: m.ID}
	cost := e.rows.cost(m.past, m.Call.Model, reply)
	switch {
	case err != nil && e.rows.live && m.past == nil && ctx.Err() == nil && isDrained(ctx): // not made again, or not at all
		done.event = agent.Cancelled{At: at}
	case err != nil:
		done.event = m.failed(ctx, at, err, seen)
	default:
		done.event = agent.ModelReplied{At: at, ID: m.ID, Reply: reply, CostNanoUSD: cost}
	}
	done.apply = func(r agent.Ready, fed bool) {
		e.rows.turnDone(m, outcome{reply, cost, err, seen, at, fed}, r)
		e.emit(Trace{Turn: &e.rows.turns[m.row], Call: &m.Call, Answer: &reply, Err: err})
	}
	return done
}

// failed tells the run being stopped and the time budget from a real failure,
// and one that is on the cassette from one that a replay would not meet.
func (m *modelCall) failed(ctx context.Context, at time.Time, err error, seen []recorder.Exchange) agent.Event {
	switch stopped := ctx.Err(); {
	case stopped == nil:
		answered := len(seen) > 0 && seen[len(seen)-1].Status != 0
		return agent.ModelFailed{At: at, ID: m.ID, Err: err, Answered: answered}
	case errors.Is(stopped, context.DeadlineExceeded):
		return agent.Deadline{At: at}
	default:
		return agent.Cancelled{At: at}
	}
}

// actionID gives the ULID of a command, in the order the commands are issued.
func (e *episode) actionID(command int, at time.Time) string {
	id := e.ids.next(at)
	e.rows.actions[command] = id
	return id
}

func (e *episode) emit(t Trace) {
	if e.trace != nil {
		e.trace(t)
	}
}

// close seals the cassette and builds the rows.
func (e *episode) close(r *runner) ledger.EpisodeRows {
	e.settle()
	f := *e.finish
	digest := ""
	if e.recorder != nil {
		if f.Err == nil && f.Status != agent.Interrupted {
			f.Err = e.seal(r)
		} else if e.failedBy > 0 && !errors.Is(f.Err, admission.ErrCapped) {
			e.recorder.Retract(e.failedBy) // when the run is resumed, it is asked again
		}
		digest = e.recorder.Digest()
	}
	o := e.rows.outcome(f, e.clock)
	e.emit(Trace{Finish: &f, Outcome: &o})
	return r.cleanRows(e.rows.episode(f, o, digest))
}

// seal saves what was recorded, or finds recordings a replay did not use.
func (e *episode) seal(r *runner) error {
	if n := e.recorder.Leftover(); n > 0 {
		return &StaleError{Path: e.cassette, Unused: n, Command: r.command(e.planned)}
	}
	err := e.recorder.Save()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("max_seconds ended a call before its answer, and a cassette holds whole exchanges only: raise the budget to record it, or run it in live mode, where it counts as stopped: %w", err)
	}
	return err
}

// StaleError says that a replayed episode ended before its cassette did: it was
// recorded with other code or another suite.
type StaleError struct {
	Path    string
	Unused  int
	Command string
}

// Error names the cassette and how to renew it.
func (e *StaleError) Error() string {
	return fmt.Sprintf("cassette %s is stale: the episode ended with %d of its recordings unused; record it again with: %s", e.Path, e.Unused, e.Command)
}
