package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

// T is the part of a test runner that Test uses; *testing.T implements it.
type T[Self any] interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Run(name string, f func(Self)) bool
}

// Params configure Test. Suite and Providers are required.
type Params struct {
	// Suite is a suite folder, relative to the test's own.
	Suite string
	// Loaded replaces Suite by a loaded suite, such as an embedded one.
	Loaded *goldens.Suite
	// Candidates are under test; nil means the suite's own. Scripted tasks always
	// run, with their scripted model.
	Candidates []goldens.Candidate
	Select     Selection
	// Trials per task and candidate; 0 means 1.
	Trials int
	// Providers are the wires of the candidates; package providers/all lists all of them.
	Providers map[string]providers.Factory
	// Policy replaces the default policy.
	Policy *policy.Policy
	// Key and Transport serve recording, as in Options.
	Key       func(goldens.Candidate) (string, error)
	Transport func(provider string) http.RoundTripper
	// Strategies are custom agents, and Tools Go functions for tools of the suite, as in
	// Options.
	Strategies map[string]agent.Strategy
	Tools      map[string]episode.ToolFunc
	// Worlds are the kinds of worlds that Suite may name, such as counts.Worlds().
	Worlds map[string]world.Kind
	// LookupEnv serves the headers of HTTP tools while recording; nil means
	// os.LookupEnv.
	LookupEnv func(name string) (string, bool)
}

// recordFlag is defined only in test binaries.
var recordFlag = func() *string {
	if !testing.Testing() {
		return new(string)
	}
	return flag.String("cupel.record", "", "record the cassettes of the golden subtests `regexp` names (task/candidate/trial), using the network")
}()

// Test runs a golden suite as subtests task/candidate/trial. Answers come from the
// cassettes without network access, unless -cupel.record names the subtest. A failing
// subtest prints the first differing check and the transcript.
func Test[TT T[TT]](t TT, p Params) {
	t.Helper()
	r, record, err := newTestRunner(p)
	if err != nil {
		t.Fatalf("%s", inert("cupel: %v", err))
		return
	}
	for i := range r.plan.len() {
		if r.plan.isFirstToRun(int32(i), nil) {
			for _, place := range r.plan.sessionEpisodes(int32(i)) { // in the order of a session
				testPlanned(t, r, record, r.plan.at(int(place)))
			}
		}
	}
}

// testPlanned runs one episode as a subtest.
func testPlanned[TT T[TT]](t TT, r *runner, record *regexp.Regexp, e drive.Planned) {
	t.Helper()
	name := drive.EpisodeName(e.Task.ID, e.Candidate.Name, e.Trial)
	t.Run(name, func(t TT) {
		t.Helper()
		run := *r
		if record != nil && record.MatchString(name) {
			run.Mode = recorder.Record
			run.today = run.Now().UTC()
			unlock, err := lockCassettes(run.Options)
			if err != nil {
				t.Fatalf("cupel: %v", err)
				return
			}
			defer unlock()
			if run.Key != nil && e.Candidate.Provider != episode.ScriptedCandidate {
				var err error
				if e.Key, err = run.Key(e.Candidate); err != nil {
					t.Fatalf("%s", inert("cupel: candidate %s: %v", e.Candidate.Name, err))
					return
				}
			}
			if err := errors.Join(registerTask(&run, e.Task), registerCandidate(&run, e.Candidate, e.Key)); err != nil {
				t.Fatalf("%s", inert("cupel: %v", err))
				return
			}
		}
		testEpisode(t, &run, e)
	})
}

func testEpisode[TT T[TT]](t TT, r *runner, p drive.Planned) {
	t.Helper()
	var traces []episode.Trace
	setHistory(&p, r.loadHistory(context.Background(), &p))
	rows := r.env().Run(context.Background(), &p, func(x episode.Trace) { traces = append(traces, x) })
	ep := rows.Episode
	if !ep.InfraError {
		if err := r.discardJournal(p.Cassette); err != nil {
			t.Fatalf("cupel: %v", err)
			return
		}
	}
	if ep.Solved && ep.HarmReason == "" {
		return
	}
	var text strings.Builder
	if err := episode.WriteTranscript(&text, traces); err != nil {
		t.Fatalf("%s", inert("write transcript: %v", err))
	}
	transcript := r.secrets.Redact("transcript", text.String())
	if ep.InfraError {
		t.Fatalf("%s", inert("%s: %s\n%s", ep.ErrorKind, ep.ErrorText, transcript))
		return
	}
	if ep.HarmReason != "" {
		t.Errorf("%s", inert("harm: %s\nstatus %s %s\n%s", ep.HarmReason, ep.Status, ep.StopReason, transcript))
		return
	}
	for _, c := range ep.Checks {
		if !c.Passed {
			t.Errorf("%s", inert("check %s: %s\nstatus %s %s\n%s", c.Name, c.Detail, ep.Status, ep.StopReason, transcript))
			return
		}
	}
	t.Errorf("%s", inert("not solved, though no check failed: status %s\n%s", ep.Status, transcript))
}

// inert formats a message for the log of a test so that CI does not interpret quoted text
// as a command.
func inert(format string, args ...any) string { return invisible.Inert(fmt.Sprintf(format, args...)) }

func newTestRunner(p Params) (*runner, *regexp.Regexp, error) {
	suite, recording := p.Loaded, Recording{}
	if suite == nil {
		var err error
		if suite, err = load.Suite(regular.DirFS(p.Suite), p.Suite, p.Worlds); err != nil {
			return nil, nil, err
		}
		recording.CassetteDir = filepath.Join(p.Suite, "cassettes")
		if pack, err := cassettes.Folder(p.Suite); err != nil {
			return nil, nil, err
		} else if pack != nil {
			recording.Store, recording.Cassettes = pack, pack // which is read until the process ends
		}
	}
	prices, err := price.Default()
	if err != nil {
		return nil, nil, err
	}
	if p.LookupEnv == nil {
		p.LookupEnv = os.LookupEnv
	}
	rules := Rules{Prices: prices}
	if p.Policy != nil {
		rules.Policy = *p.Policy
	}
	if len(p.Select.Candidates) == 0 {
		p.Select.Candidates = []string{"*"} // including the scripted candidate
	}
	var record *regexp.Regexp
	if *recordFlag != "" {
		if record, err = regexp.Compile(*recordFlag); err != nil {
			return nil, nil, fmt.Errorf("-cupel.record: %w", err)
		}
	}
	recording.RecordCommand = func(task, candidate string, trial int) string {
		if task == "" {
			return "go test -args -cupel.record=."
		}
		return fmt.Sprintf("go test -args -cupel.record='^%s/%s/%d$'", task, candidate, trial)
	}
	r, err := newRunner(Options{
		Matrix:    Matrix{Suite: suite, Candidates: p.Candidates, Select: p.Select, Trials: p.Trials},
		Recording: recording,
		Parts:     Parts{Providers: p.Providers, Key: p.Key, Transport: p.Transport, Strategies: p.Strategies, Tools: p.Tools, LookupEnv: p.LookupEnv},
		Rules:     rules,
	})
	return r, record, err
}
