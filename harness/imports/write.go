package imports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

// Mode is the mode of an imported run, and its suite and strategy unless they are named.
const Mode = strategy.Imported

// Target says where and as what Write makes a run.
type Target struct {
	// Runs is the folder of run folders.
	Runs string
	// Suite names the run's tasks together; runs of one suite are compared. Empty means Mode.
	Suite string
	// Format and Files are the source; CodeVersion is that of this program.
	Format, CodeVersion string
	Files               []File
	// AsPublished counts episodes that broke down by the verdict of the source, and leaves out the
	// cases that not all comparable candidates have.
	AsPublished bool
	// Secrets are replaced in every text; nil finds the known forms of credentials.
	Secrets *secrets.Finder
}

// leftUnshared is the name of what AsPublished leaves out.
const leftUnshared = "episodes of cases that not all candidates have"

// Write makes a run folder below t.Runs of the episodes that read hands over, and returns it. The
// same source gives the same folder and the same bytes. Memory grows by some 50 bytes an episode and
// by the names of tasks.
func Write(t Target, read func(add func(*Episode) error) (Result, error)) (dir string, m manifest.Manifest, r Result, err error) {
	if err := os.MkdirAll(t.Runs, 0o777); err != nil {
		return "", m, r, err
	}
	s, err := newSpool(t.Runs, t.Secrets)
	if err != nil {
		return "", m, r, err
	}
	defer s.close()
	if r, err = read(s.add); err != nil {
		return "", m, r, err
	}
	if len(s.index) == 0 {
		return "", m, r, errors.New("import: the files contain no episode that cupel knows; see docs/import.md for what it reads")
	}
	if n := len(s.tasks.list); n > maxTasks {
		return "", m, r, fmt.Errorf("import: %d tasks, more than the %d of a run: import the files in parts, or name the tasks", n, maxTasks)
	}
	if err := s.order(); err != nil {
		return "", m, r, err
	}
	with := s.shared()
	if t.AsPublished {
		if n := s.restrict(with); n > 0 {
			r.LeftOut = maps.Clone(r.LeftOut)
			if r.LeftOut == nil {
				r.LeftOut = map[string]int{}
			}
			r.LeftOut[leftUnshared] = n
		}
	}
	m = newManifest(t, r, s)
	if !t.AsPublished {
		m.Imported.NotShared = counts(with.more)
	}
	dir = filepath.Join(t.Runs, m.RunID)
	m, err = write(dir, m, s)
	return dir, m, r, err
}

// write writes the run folder.
func write(dir string, m manifest.Manifest, s *spool) (manifest.Manifest, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return m, err
	}
	unlock, err := ledger.Lock(dir)
	if err != nil {
		return m, err
	}
	defer unlock()
	w, err := ledger.NewWriter(dir)
	if err != nil {
		return m, err
	}
	defer w.Abort()
	m.Imported.Texts, err = writeTexts(dir, func(line func(*Episode) error) error {
		at, request := map[string]int{}, min(maxRequest, maxRequests/len(s.tasks.list))
		return s.each(func(e *Episode) error {
			enter(&m, e, at, request)
			rows := rowsOf(&m, e)
			rows.Episode.AddTo(&m.Outcomes)
			return errors.Join(w.Append(rows), line(e))
		})
	}, m.RunID)
	if err != nil {
		return m, err
	}
	return w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
}

// maxWord bounds the names of tasks and candidates, in bytes.
const maxWord = 80

// word returns text as a name that a command line, a path and a page can hold. Different long texts
// are different names.
func word(text string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	if len(out) > maxWord {
		out = out[:maxWord-9] + "-" + sealed.Digest([]byte(text))[:8]
	}
	return strings.Trim(out, ".-")
}

// Bounds of run.json.
const (
	maxTitle    = 80
	maxRequest  = 4 << 10
	maxRequests = 24 << 20 // of all tasks
	maxTasks    = 100_000
	maxNames    = 200
)

func newManifest(t Target, r Result, s *spool) manifest.Manifest {
	parts := []string{"import", t.Format, t.Suite, r.Version, hex.EncodeToString(s.sum.Sum(nil))}
	if t.AsPublished {
		parts = append(parts, "as published")
	}
	m := manifest.Manifest{
		Format: manifest.Format, RunID: drive.NewRunID(time.UnixMicro(s.first), parts...), Status: "complete", Mode: Mode, Suite: cmp.Or(t.Suite, Mode), CodeVersion: t.CodeVersion,
		Acceptance: manifest.Acceptance{}.Resolved(), Candidates: []manifest.Candidate{}, Tasks: []manifest.Task{},
		Imported: manifest.Imported{Format: t.Format, Version: r.Version, Sources: []manifest.SourceFile{}, AsPublished: t.AsPublished},
	}
	for _, f := range t.Files {
		redact(t.Secrets, &f.Source.Name)
		m.Imported.Sources = append(m.Imported.Sources, f.Source)
	}
	left := counts(r.LeftOut)
	if len(left) > maxNames {
		for _, c := range left[maxNames:] {
			left[maxNames-1].Count += c.Count
		}
		left = left[:maxNames]
		left[maxNames-1].Name = "others"
	}
	for i := range left {
		redact(t.Secrets, &left[i].Name)
		left[i].Name = clip.Bytes(left[i].Name, maxTitle)
	}
	m.Imported.LeftOut = left
	return m
}

// counts sorts by name.
func counts(by map[string]int) (list []manifest.Count) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		list = append(list, manifest.Count{Name: name, Count: by[name]})
	}
	return list
}

// enter adds what run.json says of an episode. at has the candidates by name, and request bounds the
// text of a task.
func enter(m *manifest.Manifest, e *Episode, at map[string]int, request int) {
	m.Trials = max(m.Trials, e.Trial)
	if n := len(m.Tasks); n == 0 || m.Tasks[n-1].ID != e.Task {
		m.Tasks = append(m.Tasks, taskOf(e, request))
	}
	if _, known := at[e.Candidate]; !known {
		at[e.Candidate] = len(m.Candidates)
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: e.Candidate, Agent: cmp.Or(e.Agent, strategy.External), Provider: e.Provider, Model: e.Model})
	}
	m.Candidates[at[e.Candidate]].Planned++
	if e.Crashed != "" && e.Verdict != nil {
		m.Imported.Crashed++
	}
}

func taskOf(e *Episode, request int) manifest.Task {
	t := manifest.Task{ID: e.Task, Title: "request unknown", Session: e.Cluster}
	if e.Injection != "" {
		t.Session, t.Base = "", word(e.Cluster)
	}
	whole := ""
	if e.Request != nil {
		whole = *e.Request
		t.Request = clip.Bytes(whole, request)
		line, _, _ := strings.Cut(strings.TrimSpace(t.Request), "\n")
		t.Title = cmp.Or(clip.Bytes(line, maxTitle), "empty request")
	}
	sum := sha256.Sum256([]byte(e.Task + "\x00" + whole))
	t.Digest = hex.EncodeToString(sum[:])
	return t
}

// idOf returns the id of a part of an episode.
func idOf(at int64, parts ...string) string { return drive.NewRunID(time.UnixMicro(at), parts...) }
