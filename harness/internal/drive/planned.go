package drive

import (
	"fmt"
	"io/fs"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// ScriptedRescue is the name of the rescue model of scripted tasks.
const ScriptedRescue = "scripted-rescue"

// Planned is one resolved episode that has not started.
type Planned struct {
	Suite      *goldens.Suite
	Task       goldens.Task
	Candidate  goldens.Candidate
	Trial      int
	Seed       Seed
	Params     agent.Params
	Factory    providers.Factory
	Key        string
	Cassette   string   // path below the cassettes folder; empty for scripted without HTTP tools
	Fork       *Past    // its recorded past; nil unless it is a fork
	ForkTarget *Planned // set in the replay of a past: the fork to check; usually nil
	// HistoryErr is the reason why the earlier part of the session is unknown; it and the
	// digest of that part's cassettes are only set in a session.
	HistoryErr error
	Before     string
	// Strategies are the custom strategies.
	Strategies map[string]agent.Strategy
}

// Past is the recorded beginning of a planned episode, which is embedded.
type Past struct {
	Planned
	Turn int // the last one replayed
	// Digest and Recorded are the cassette's digest and recording day.
	Digest, Recorded string
	// Answer is given to the requests that the recorded episode ended with; nil if it is not
	// continued from there.
	Answer *person.Answer
	// Command is the shell command that records it.
	Command string
}

// Open opens the recorded episode's cassette.
func (p *Past) Open(cassettes fs.FS) (*recorder.Recorder, error) {
	return recorder.New(recorder.Options{Mode: recorder.Replay, FS: cassettes, Path: p.Cassette, Command: p.Command})
}

// rowKey returns the columns of every row that identify the candidate, task and trial.
func (p Planned) rowKey(runID, episodeID string, replayed bool) ledger.Key {
	return ledger.Key{
		RunID: runID, EpisodeID: episodeID, Suite: p.Suite.Name, TaskID: p.Task.ID,
		Candidate: p.Candidate.Name, Agent: p.Candidate.Agent, Provider: p.Candidate.Provider,
		Model: p.Candidate.Model, OutputMode: p.Candidate.Mode, PromptProfile: p.Candidate.Profile,
		Trial: int32(p.Trial), Seed: p.Seed.Int64(), Replayed: replayed,
	}
}

// Own reports whether an episode's strategy is one of Options.Strategies.
func (p Planned) Own() bool {
	_, own := p.Strategies[p.Candidate.Agent]
	return own
}

// guardOwn turns a panic of a custom strategy into an error; a panic of a built-in one is a
// bug and stays. It must be deferred.
func (p Planned) guardOwn(ev agent.Event, err *error) {
	if !p.Own() {
		return
	}
	if r := recover(); r != nil {
		*err = fmt.Errorf("strategy %s panicked at %T: %v", p.Candidate.Agent, ev, r)
	}
}

// FirstCalls returns the first model calls of a machine with these parameters; nil if it
// cannot be created.
func (p Planned) FirstCalls(params agent.Params) (calls []agent.CallModel) {
	machine, err := agent.New(p.Candidate.Agent, params, p.Strategies)
	if err != nil {
		return nil
	}
	ev := agent.Started{At: p.Task.World.Now}
	defer p.guardOwn(ev, &err)
	for _, c := range machine.Step(ev).Commands {
		if call, ok := c.(agent.CallModel); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

// Remembers reports whether earlier episodes can change a request of this one.
func (p Planned) Remembers() bool { return p.Task.Session != "" && !p.Candidate.Memory.Off }
