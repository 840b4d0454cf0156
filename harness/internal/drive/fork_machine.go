package drive

import (
	"fmt"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/clip"
)

// newMachine creates the machine of a planned episode.
func (p Planned) newMachine() (agent.Machine, error) {
	own, err := agent.New(p.Candidate.Agent, p.Params, p.Strategies)
	switch {
	case err != nil:
		return nil, err
	case p.ForkTarget != nil:
		next, err := agent.New(p.ForkTarget.Candidate.Agent, p.ForkTarget.Params, p.Strategies)
		return &forkMachine{past: own, next: next, turn: p.ForkTarget.Fork.lastTurn(), checking: true}, err
	case p.Fork != nil:
		old, err := agent.New(p.Fork.Candidate.Agent, p.Fork.Params, p.Strategies)
		return &forkMachine{past: old, next: own, turn: p.Fork.lastTurn()}, err
	}
	return own, nil
}

// untilAwaiting is the last turn of a past that ends where input is awaited.
const untilAwaiting = maxCommands

func (p *Past) lastTurn() int {
	if p.Answer != nil {
		return untilAwaiting
	}
	return p.Turn
}

// forkMachine is two machines that receive the same events. The past's, created like the
// recorded episode's, decides until it issues a turn beyond the fork; then the next one
// decides. Up to the fork both must issue the same commands.
type forkMachine struct {
	past, next agent.Machine // past is nil after the fork
	turn       int           // the last one of the past
	asked      int           // model calls of the past
	open       int           // those of them that are in flight
	checking   bool          // the past continues after the fork, and next is nil then
}

// Step implements agent.Machine.
func (m *forkMachine) Step(ev agent.Event) agent.Ready {
	switch {
	case m.past == nil:
		return m.next.Step(ev)
	case m.next == nil:
		return m.past.Step(ev)
	}
	old, now := m.past.Step(ev), m.next.Step(ev)
	switch ev.(type) {
	case agent.ModelReplied, agent.ModelFailed:
		m.open--
	}
	calls := 0
	for _, c := range old.Commands {
		if _, ok := c.(agent.CallModel); ok {
			calls++
		}
	}
	if calls > 0 && m.open == 0 && m.asked >= m.turn { // this is the fork
		if m.checking {
			m.next = nil
			return old
		}
		m.past = nil
		return now
	}
	m.asked += calls
	m.open += calls
	err := sameCommands(m.asked, old.Commands, now.Commands)
	if err == nil && m.open > 1 && m.turn < untilAwaiting {
		err = &OverlapError{m.asked - m.open + 1, m.asked}
	}
	if err != nil {
		old.Commands = []agent.Command{agent.Finish{Status: agent.Failed, Err: err}}
	}
	return old
}

// OverlapError means that recorded turns were in flight together, so an episode cannot
// continue from between them.
type OverlapError struct{ first, last int }

// Error names the turns and the last one before them.
func (e *OverlapError) Error() string {
	text := fmt.Sprintf("its turns %d to %d overlap, and a fork can continue only when no reply is outstanding", e.first, e.last)
	if e.first > 1 {
		text += fmt.Sprintf(": keep at most %d", e.first-1)
	}
	return text
}

// DivergedError means that a candidate would not reach the fork.
type DivergedError struct {
	turn     int
	old, now string
}

// Error names the turn and both decisions.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("its settings diverge before the fork: at turn %d it would %s, the recorded episode would %s; use the same budgets, rescue and compress",
		e.turn, e.now, e.old)
}

// sameCommands compares the commands of two machines, except for prompts and sampling
// settings.
func sameCommands(turn int, old, now []agent.Command) error {
	for i := range max(len(old), len(now)) {
		a, b := describe(old, i), describe(now, i)
		if a != b {
			return &DivergedError{turn, a, b}
		}
	}
	return nil
}

// describe describes the i-th command. Commands with equal descriptions are the same to an
// episode's history.
func describe(list []agent.Command, i int) string {
	if i >= len(list) {
		return "do nothing more"
	}
	switch c := list[i].(type) {
	case agent.CallModel:
		what := c.Role + "/" + c.Kind
		for _, more := range []string{c.Whom, episode.Visible(clip.Bytes(c.Step, 200))} {
			if more != "" && more != c.Role {
				what += " " + more
			}
		}
		return fmt.Sprintf("ask for a turn (%s)", what)
	case agent.CallTool:
		how := "call"
		if c.Given != nil {
			how = fmt.Sprintf("answer from memory (%s %s) the call", c.Given.Outcome, c.Given.Code)
		}
		return fmt.Sprintf("%s %s", how, episode.Visible(clip.Bytes(c.Key, 200)))
	case agent.AskUser:
		return "ask the user"
	case agent.Listen:
		return "listen to the user"
	case agent.Wait:
		return fmt.Sprintf("wait for %v", c.For)
	case agent.Finish:
		if c.StopReason != "" {
			return fmt.Sprintf("end (%s: %s)", c.Status, c.StopReason)
		}
		return fmt.Sprintf("end (%s)", c.Status)
	}
	return fmt.Sprintf("do %T", list[i])
}
