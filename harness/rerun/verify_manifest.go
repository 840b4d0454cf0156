package rerun

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// rowTotals are the parts of a manifest that follow from the rows.
type rowTotals struct {
	manifest.Totals
	outcomes manifest.Outcomes
	first    ledger.Episode
	trials   int
	replayed bool
}

func (t *rowTotals) add(rows ledger.EpisodeRows) {
	if t.Episodes == 0 {
		t.first = rows.Episode
	}
	t.Episodes++
	t.Turns += len(rows.Turns)
	t.ToolCalls += len(rows.ToolCalls)
	rows.Episode.AddTo(&t.outcomes)
	t.trials = max(t.trials, int(rows.Episode.Trial))
	t.replayed = t.replayed || rows.Episode.Replayed
}

// manifest returns m with its reproducible members recomputed from the rows and from the
// manifest of the re-execution, which has the candidates and tasks of the episodes with a
// result.
func (t *rowTotals) manifest(m, again manifest.Manifest) manifest.Manifest {
	t.Digest = m.LedgerDigest // checked by the reader of the rows
	m.SetTotals(t.Totals)
	m.Suite, m.SuiteDigest, m.PriceDigest, m.PriceVersion = again.Suite, again.SuiteDigest, again.PriceDigest, again.PriceVersion
	if t.Episodes > 0 {
		m.RunID, m.Trials = t.first.RunID, max(m.Trials, t.trials)
		switch replay := string(recorder.Replay); {
		case t.replayed:
			m.Mode = replay
		case m.Mode == replay:
			m.Mode = string(recorder.Record)
		}
	}
	planned := 0
	m.Simulated = false
	m.Candidates = slices.Clone(m.Candidates)
	for i := range m.Candidates {
		c := &m.Candidates[i]
		c.Simulated = drive.Simulated(c.Provider)
		if j := slices.IndexFunc(again.Candidates, func(a manifest.Candidate) bool { return a.Name == c.Name }); j >= 0 {
			was := *c
			*c = again.Candidates[j]
			c.Planned, c.PlannedInAll, c.Canary = was.Planned, was.PlannedInAll, was.Canary
		}
		planned += c.Planned
		m.Simulated = m.Simulated || c.Simulated
	}
	m.Tasks = slices.Clone(m.Tasks)
	for i, task := range m.Tasks {
		if j := slices.IndexFunc(again.Tasks, func(a manifest.Task) bool { return a.ID == task.ID }); j >= 0 {
			m.Tasks[i] = again.Tasks[j]
		}
	}
	m.Outcomes = t.outcomes
	m.Outcomes.Unfinished = planned - t.Episodes
	m.Status = drive.StatusWith(m.Outcomes)
	if m.Status == "complete" && m.Shard == "" && m.Decide == nil { // the whole plan was executed again
		m.PlanDigest = again.PlanDigest
	}
	return m
}

// manifestDifferences returns the members that differ.
func manifestDifferences(was, is manifest.Manifest) (list []ManifestDifference) {
	a, b := members(was), members(is)
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x, y := a[name], b[name]; x != y && !strings.Contains(x, secrets.Hidden) { // a redacted value may be unknown now
			list = append(list, ManifestDifference{name, orNone(x), orNone(y)})
		}
	}
	return list
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return clip.Bytes(value, 200)
}

// members are the values of a manifest by their path in run.json, as JSON.
func members(m manifest.Manifest) map[string]string {
	text, err := json.Marshal(m)
	var tree any
	if err == nil {
		err = json.Unmarshal(text, &tree)
	}
	if err != nil {
		panic("harness: " + err.Error()) // unreachable: plain strings and numbers
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), value)
			}
		case []any:
			for i, value := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), value)
			}
		default:
			value, _ := json.Marshal(v) // the value was decoded from JSON
			out[path] = string(value)
		}
	}
	walk("", tree)
	return out
}
