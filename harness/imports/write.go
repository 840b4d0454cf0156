package imports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Mode is the mode of an imported run, and its suite unless it is named.
const Mode = "imported"

// Target says where and as what Write makes a run.
type Target struct {
	// Runs is the folder of run folders.
	Runs string
	// Suite names the run's tasks together; runs of one suite are compared. Empty means Mode.
	Suite string
	// Format and Files are the source; CodeVersion is that of this program.
	Format, CodeVersion string
	Files               []File
	// Secrets are replaced in every text; nil finds the known forms of credentials.
	Secrets *secrets.Finder
}

// Write makes a run folder of the episodes below t.Runs and returns it. The same source gives the
// same folder and the same bytes.
func Write(t Target, r Result) (dir string, m manifest.Manifest, err error) {
	if len(r.Episodes) == 0 {
		return "", m, errors.New("import: the files contain no model call or tool call that cupel knows; see docs/traces.md for what it reads")
	}
	redact(t.Secrets, &r.Episodes)
	name(r.Episodes)
	m = newManifest(t, r)
	dir = filepath.Join(t.Runs, m.RunID)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return dir, m, err
	}
	unlock, err := ledger.Lock(dir)
	if err != nil {
		return dir, m, err
	}
	defer unlock()
	w, err := ledger.NewWriter(dir)
	if err != nil {
		return dir, m, err
	}
	defer w.Abort()
	for i := range r.Episodes {
		rows := rowsOf(&m, &r.Episodes[i])
		rows.Episode.AddTo(&m.Outcomes)
		if err := w.Append(rows); err != nil {
			return dir, m, err
		}
	}
	m, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		var err error
		m.Imported.Texts, err = writeTexts(dir, m.RunID, r.Episodes)
		return m, err
	})
	return dir, m, err
}

// name gives episodes their task, candidate and trial, and sorts them as the ledger does.
func name(list []Episode) {
	models := map[string]map[string]bool{}
	for i := range list {
		e := &list[i]
		e.Candidate = cmp.Or(word(e.Candidate), Mode)
		if models[e.Candidate] == nil {
			models[e.Candidate] = map[string]bool{}
		}
		models[e.Candidate][e.Provider+"\x00"+e.Model+"\x00"+e.Agent] = true
		if e.Task = word(e.Task); e.Task == "" {
			text := "id " + e.ID
			if e.Request != nil {
				text = *e.Request
			}
			e.Task = "T-" + sealed.Digest([]byte(text))[:10]
		}
	}
	for i := range list {
		if e := &list[i]; len(models[e.Candidate]) > 1 {
			e.Candidate = word(e.Candidate + "-" + cmp.Or(e.Model, "unknown"))
		}
	}
	slices.SortFunc(list, func(a, b Episode) int {
		return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Candidate, b.Candidate), cmp.Compare(a.Trial, b.Trial),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	for i := range list {
		e, trial := &list[i], 1
		if i > 0 && list[i-1].Task == e.Task && list[i-1].Candidate == e.Candidate {
			trial = list[i-1].Trial + 1
		}
		e.Trial = max(e.Trial, trial)
	}
}

// maxWord bounds the names of tasks and candidates, in bytes.
const maxWord = 60

// word returns text as a name that a command line, a path and a page can hold.
func word(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(text[:min(len(text), maxWord)], ".-")
}

// Bounds of run.json.
const (
	maxTitle   = 80
	maxRequest = 4 << 10
	maxNames   = 200
)

func newManifest(t Target, r Result) manifest.Manifest {
	first := r.Episodes[0].Start
	parts := []string{"import", t.Format, t.Suite, r.Version}
	for _, f := range t.Files {
		parts = append(parts, f.Source.Digest)
	}
	m := manifest.Manifest{
		Format: manifest.Format, Status: "complete", Mode: Mode, Suite: cmp.Or(t.Suite, Mode), CodeVersion: t.CodeVersion,
		Acceptance: manifest.Acceptance{}.Resolved(), Candidates: []manifest.Candidate{}, Tasks: []manifest.Task{},
		Imported: manifest.Imported{Format: t.Format, Version: r.Version, Sources: []manifest.SourceFile{}},
	}
	for _, f := range t.Files {
		redact(t.Secrets, &f.Source.Name)
		m.Imported.Sources = append(m.Imported.Sources, f.Source)
	}
	for n, what := range slices.Sorted(maps.Keys(r.LeftOut)) {
		if n >= maxNames {
			m.Imported.LeftOut[maxNames-1].Name = "others"
			m.Imported.LeftOut[maxNames-1].Count += r.LeftOut[what]
			continue
		}
		key := what
		redact(t.Secrets, &key)
		m.Imported.LeftOut = append(m.Imported.LeftOut, manifest.Count{Name: clip.Bytes(key, maxTitle), Count: r.LeftOut[what]})
	}
	at := map[string]int{}
	for i := range r.Episodes {
		e := &r.Episodes[i]
		first = min(first, e.Start)
		parts = append(parts, e.ID)
		m.Trials = max(m.Trials, e.Trial)
		if n := len(m.Tasks); n == 0 || m.Tasks[n-1].ID != e.Task {
			m.Tasks = append(m.Tasks, taskOf(e))
		}
		if _, known := at[e.Candidate]; !known {
			at[e.Candidate] = len(m.Candidates)
			m.Candidates = append(m.Candidates, manifest.Candidate{Name: e.Candidate, Agent: cmp.Or(e.Agent, strategy.External), Provider: e.Provider, Model: e.Model})
		}
		m.Candidates[at[e.Candidate]].Planned++
	}
	m.RunID = drive.NewRunID(time.UnixMicro(first), parts...)
	return m
}

func taskOf(e *Episode) manifest.Task {
	t := manifest.Task{ID: e.Task, Title: "request unknown"}
	if e.Request != nil {
		t.Request = clip.Bytes(*e.Request, maxRequest)
		line, _, _ := strings.Cut(strings.TrimSpace(t.Request), "\n")
		t.Title = cmp.Or(clip.Bytes(line, maxTitle), "empty request")
	}
	sum := sha256.Sum256([]byte(e.Task + "\x00" + t.Request))
	t.Digest = hex.EncodeToString(sum[:])
	return t
}

// idOf returns the id of a part of an episode.
func idOf(at int64, parts ...string) string { return drive.NewRunID(time.UnixMicro(at), parts...) }
