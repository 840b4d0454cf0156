// Package reporttest has synthetic runs and comparisons, and checks of what is written of
// them. It is linked into tests only.
package reporttest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/internal/regular"
)

// TimedDemo is a recorded run in ledger order, with all that is left out of rates.
func TimedDemo(t testing.TB) (manifest.Manifest, ledger.Rows) {
	t.Helper()
	profiles := DemoProfiles()
	script := profiles[0]
	script.Name, script.Provider = "script", "scripted"
	m, rows := Demo(append(profiles, script), 10, 4)
	m.Mode, m.Started, m.SuiteDigest = "record", "2026-11-03T03:00:00.5Z", "s1"
	for i := range m.Candidates {
		m.Candidates[i].Planned, m.Candidates[i].Digest = 40, "digest of "+m.Candidates[i].Name
	}
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		switch i % 17 {
		case 3:
			e.Status, e.Solved = ledger.StatusBudgetStop, true
		case 5:
			e.Status = ledger.StatusHarnessError
		case 7:
			e.Status, e.Solved = "stopped", true // a guard's stop with every check passed
		case 9:
			e.Status = "cancelled"
		case 11:
			e.Status, e.InfraError = "error", true
		}
	}
	for i := range rows.Turns {
		switch u := &rows.Turns[i]; i % 23 {
		case 2:
			u.ErrorKind = "overloaded"
		case 4:
			u.Role, u.Kind = "helper", "compress"
		case 6:
			u.FinishReason, u.ContractValid, u.Violations = "length", true, nil
		}
	}
	slices.SortStableFunc(rows.Episodes, func(a, b ledger.Episode) int { return a.Compare(b.Key) })
	slices.SortStableFunc(rows.Turns, func(a, b ledger.Turn) int { return a.Compare(b.Key) })
	slices.SortStableFunc(rows.ToolCalls, func(a, b ledger.ToolCall) int { return a.Compare(b.Key) })
	return m, rows
}

// Hostile puts payloads into every string a model, a tool or a file name can
// influence.
func Hostile() (manifest.Manifest, ledger.Rows) {
	const payload = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202Egnp.exe\x1b[2J\x00\"'`|*_[x](javascript:alert(3)) @everyone #1 www.evil.example http://evil.example ]]> \xff"
	m, rows := Demo(DemoProfiles()[:2], 3, 1)
	m.RunID, m.Suite, m.CodeVersion = "run"+payload, "suite"+payload, payload
	for i := range m.Candidates {
		c := &m.Candidates[i]
		c.Name, c.Model, c.Provider, c.Agent, c.OutputMode, c.PromptProfile, c.RescueModel = fmt.Sprint(i)+payload, payload, payload, payload, payload+fmt.Sprint(i), payload, payload
	}
	for i := range m.Tasks {
		m.Tasks[i].ID, m.Tasks[i].Title, m.Tasks[i].Tier, m.Tasks[i].Request = m.Tasks[i].ID+payload, payload, payload, payload
	}
	foul := func(k *ledger.Key) {
		k.EpisodeID += payload
		k.TaskID += payload
		k.Candidate = map[string]string{"north-mini": m.Candidates[0].Name, "north-mini-prose": m.Candidates[1].Name}[k.Candidate]
	}
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		foul(&e.Key)
		e.Solved, e.Status, e.StopReason, e.Answer = i%2 == 0, payload, payload, strings.Repeat(payload, 5000)
		e.Checks = []ledger.Check{{Name: payload, Detail: strings.Repeat(payload, 1000)}}
		e.Requests = []work.Request{{SubAgent: payload, Tool: payload, Kind: payload, Severity: payload, Message: payload, Say: payload, Text: payload}}
		e.Tasks = []work.Task{{ID: payload, Kind: payload, Title: payload, SubAgent: payload, State: payload, Reason: payload, TsStart: new(e.TsStart)}}
		if i == 1 {
			e.InfraError, e.ErrorKind, e.ErrorText = true, payload, payload
		}
	}
	for i := range rows.Turns {
		u := &rows.Turns[i]
		foul(&u.Key)
		if u.Turn > 1 {
			u.SubAgent, u.ParentAgent = payload, payload
		}
		u.Violations, u.NextActionName, u.NextActionType, u.Kind, u.ModelServed, u.Cassette = []string{payload}, payload, payload, payload, payload, payload
		if i%5 == 0 {
			u.ErrorKind = payload
		}
	}
	for i := range rows.ToolCalls {
		foul(&rows.ToolCalls[i].Key)
		rows.ToolCalls[i].ToolName, rows.ToolCalls[i].Outcome, rows.ToolCalls[i].ErrorCode = payload, payload, payload
	}
	return m, rows
}

// Lacks is NotContains that does not print a whole report.
func Lacks(t *testing.T, out, part string) {
	t.Helper()
	if at := strings.Index(out, part); at >= 0 {
		t.Fatalf("found %q in …%s…", part, out[max(0, at-80):min(len(out), at+120)])
	}
}

// Snapshot reads all files below a folder.
func Snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := regular.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(text)
		return err
	}))
	return files
}

// Broken is a writer that fails.
type Broken struct{}

func (Broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

var (
	idOf     = regexp.MustCompile(` id="([^"]+)"`)
	scriptOf = regexp.MustCompile(`(?s)<script>.*?</script>`)
)

// Ids are those of a page, each once.
func Ids(t *testing.T, name, page string) map[string]bool {
	t.Helper()
	have := map[string]bool{}
	for _, m := range idOf.FindAllStringSubmatch(scriptOf.ReplaceAllString(page, ""), -1) {
		require.False(t, have[m[1]], "%s: id %s twice", name, m[1])
		have[m[1]] = true
	}
	return have
}

// Inert says that a page is closed in order, runs its own script only and refers
// to nothing outside. What is checked is the page as elements.
func Inert(t *testing.T, page string) {
	t.Helper()
	require.Equal(t, 1, strings.Count(page, "<script"))
	require.Equal(t, -1, strings.IndexFunc(strings.NewReplacer("\n", "", "\t", "").Replace(page), Hidden))
	page = regexp.MustCompile(`(?s)<!doctype html>|<style>.*?</style>|<script>.*?</script>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`<(meta|link|input|br)\b([^>]*)>`).ReplaceAllString(page, "<$1$2/>")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = false // attributes without a value
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			require.Zero(t, depth)
			return
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			require.NotContains(t, []string{"img", "iframe", "object", "embed", "form", "base", "video", "audio"}, e.Name.Local)
			for _, a := range e.Attr {
				require.False(t, strings.HasPrefix(a.Name.Local, "on"), "<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value)
				if a.Name.Local == "href" || a.Name.Local == "src" {
					require.Regexp(t, `\A[#.A-Za-z0-9/_=%-]+\z`, a.Value)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
}

// Hidden reports what no output may hold unescaped.
func Hidden(r rune) bool { return invisible.Unsafe(r) }

// Render is what f writes of v.
func Render[T any](t testing.TB, f func(io.Writer, T) error, v T) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, f(&b, v))
	return b.String()
}

// DemoDir is a flag of every test that links this package.
var DemoDir = flag.String("demo", "", "write a synthetic run's report below this folder, to look at")

// OwnRun is the demo run with custom criteria.
func OwnRun(t *testing.T, tasks, trials int, change func(*ledger.Rows), own ...manifest.Criterion) (manifest.Manifest, ledger.Rows) {
	t.Helper()
	m, rows := Demo(DemoProfiles(), tasks, trials)
	m.Acceptance = manifest.Acceptance{Criteria: own}
	require.NoError(t, m.Acceptance.Validate())
	if change != nil {
		change(&rows)
	}
	return m, rows
}

// AddLong adds n episodes with so many turns each; of every ten the first is lost, the
// second fails.
func AddLong(add func(ledger.EpisodeRows), n, turns int) {
	list := slices.Repeat([]ledger.Turn{{Turn: 1, Role: "main", Kind: "act"}}, turns)
	for i := range n {
		e := ledger.Episode{Key: ledger.Key{EpisodeID: fmt.Sprint("e", i), TaskID: "t", Candidate: "a"}, Status: "answered", Solved: i%10 > 1}
		switch i % 10 {
		case 0:
			e.InfraError = true
		case 1:
			e.Checks = []ledger.Check{{Name: "one", Detail: "no"}, {Name: "two", Detail: "no"}}
		}
		add(ledger.EpisodeRows{Episode: e, Turns: list})
	}
}

// PassRun is a candidate on tasks whose trials went as the strings say: + solved,
// - not, x lost.
func PassRun(trials int, tasks ...string) (manifest.Manifest, ledger.Rows) {
	m := manifest.Manifest{Trials: trials, Candidates: []manifest.Candidate{{Name: "c", Provider: "p", Model: "m"}}}
	var rows ledger.Rows
	for i, outcomes := range tasks {
		id := string(rune('A' + i))
		m.Tasks = append(m.Tasks, manifest.Task{ID: id})
		for k, o := range outcomes {
			e := ledger.Episode{Key: ledger.Key{EpisodeID: id + string(rune('1'+k)), TaskID: id, Candidate: "c", Trial: int32(k + 1)}, Status: "answered", Solved: o == '+'}
			if o == 'x' {
				e.Status, e.InfraError = ledger.StatusInfraError, true
			}
			rows.Episodes = append(rows.Episodes, e)
		}
	}
	return m, rows
}
