package viewer

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/parallel"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxRuns is how many runs are listed: those whose manifest changed last.
const maxRuns = 1000

// run is what the list shows of a run folder.
type run struct {
	// ID is the name of the folder, Name the same to be shown.
	ID, Name string
	// Problem says why the folder cannot be read; most other fields are then empty.
	Problem string
	// Date is when the run began, or else when its manifest was written.
	Date        time.Time
	Suite, Mode string
	Status      string // of the manifest, or interrupted
	Simulated   bool
	Candidates  []string
	Verdict     stat.Verdict // empty without a report
	Headline    string
	Cost        *int64 // nano-USD; nil is unknown
	// Solved of Scored episodes; Planned in all. Of a run that has not ended, Done have.
	Solved, Scored, Planned, Done int
	// Reported says that the folder has the report of its ledger.
	Reported bool
	digest   string // of the rows
}

const interrupted = "interrupted"

// Ended says that the run has a ledger.
func (r run) Ended() bool { return r.Problem == "" && !r.Running() && r.Status != interrupted }

// Running says that a process is at work on the run.
func (r run) Running() bool { return r.Status == manifest.Running }

// stamp changes when a run's manifest or report is replaced.
type stamp struct {
	manifest, report time.Time
	sizes            [2]int64
}

// runCache keeps what was read of runs whose files have not changed since.
type runCache struct {
	mu sync.Mutex
	by map[string]cachedRun
}

type cachedRun struct {
	stamp
	run
}

// runs lists the run folders, the newest first. older says how many more there are.
func (v *viewer) runs() (list []run, older int, err error) {
	entries, err := os.ReadDir(v.Runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	var found []cachedRun
	for _, e := range entries {
		if s, ok := stampOf(filepath.Join(v.Runs, e.Name())); ok {
			found = append(found, cachedRun{s, run{ID: e.Name()}})
		}
	}
	slices.SortFunc(found, func(a, b cachedRun) int {
		return cmp.Or(b.manifest.Compare(a.manifest), strings.Compare(b.ID, a.ID))
	})
	older = max(0, len(found)-maxRuns)
	found = found[:len(found)-older]
	list = make([]run, len(found))
	parallel.Each(len(found), func(i int) { list[i] = v.cached(found[i].ID, found[i].stamp) })
	v.listed.keep(found, list)
	for i := range list {
		v.checkRunning(&list[i])
	}
	slices.SortStableFunc(list, func(a, b run) int { return b.Date.Compare(a.Date) })
	return list, older, nil
}

// stampOf returns the stamp of a run folder. ok is false if the folder is not one.
func stampOf(dir string) (s stamp, ok bool) {
	for i, name := range []string{manifest.File, filepath.Join("report", "report.json")} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		s.sizes[i] = info.Size()
		if i == 0 {
			ok, s.manifest = true, info.ModTime()
		} else {
			s.report = info.ModTime()
		}
	}
	return s, ok
}

// cached reads a run unless it is known.
func (v *viewer) cached(id string, s stamp) run {
	v.listed.mu.Lock()
	was, ok := v.listed.by[id]
	v.listed.mu.Unlock()
	if ok && was.stamp == s {
		return was.run
	}
	return v.read(id, s.manifest)
}

// keep forgets all other runs. list are those of found, in the same order.
func (c *runCache) keep(found []cachedRun, list []run) {
	by := make(map[string]cachedRun, len(found))
	for i, f := range found {
		by[f.ID] = cachedRun{f.stamp, list[i]}
	}
	c.mu.Lock()
	c.by = by
	c.mu.Unlock()
}

// find reads one run by its id. ok is false if there is no such folder.
func (v *viewer) find(id string) (r run, ok bool) {
	dir, ok := v.folder(id)
	s, isRun := stampOf(dir)
	if !ok || !isRun {
		return r, false
	}
	r = v.cached(id, s)
	v.checkRunning(&r)
	return r, true
}

// checkRunning tells a run in progress from one whose process was killed, and counts what
// has ended of the first.
func (v *viewer) checkRunning(r *run) {
	if !r.Running() {
		return
	}
	ended := map[string]bool{}                                                                    // by id: one that was run again is there twice
	inUse, _ := ledger.ReadUnfinished(filepath.Join(v.Runs, r.ID), func(rec ledger.EpisodeRows) { // the run's page says why it cannot be read
		ended[rec.Episode.EpisodeID] = true
	})
	r.Done = len(ended)
	if !inUse {
		r.Status = interrupted
	}
}

// read reads the manifest of a run, and of its report the verdict and the cost.
func (v *viewer) read(id string, written time.Time) run {
	r := run{ID: id, Name: words.Brief(v.Redact("id", id), 80), Date: written.UTC()}
	dir, ok := v.folder(id)
	if !ok {
		r.Problem = "not a folder of its own but a link; name its target: cupel view DIR"
		return r
	}
	m, err := manifest.Read(dir)
	if err != nil {
		r.Problem = words.Clip(v.Redact("error", v.relative(dir, err)), 300)
		return r
	}
	if began, err := time.Parse(time.RFC3339Nano, m.Started); err == nil {
		r.Date = began.UTC()
	}
	r.Suite, r.Mode, r.Status = v.brief("suite", m.Suite), v.brief("mode", m.Mode), v.brief("status", m.Status)
	r.Simulated, r.digest = m.Simulated, m.LedgerDigest
	r.Solved, r.Scored = m.Outcomes.Solved, m.Outcomes.Solved+m.Outcomes.Failed
	for _, c := range m.Candidates {
		r.Candidates = append(r.Candidates, v.brief("candidate", c.Name))
		r.Planned += c.Planned
	}
	if r.Ended() {
		v.addReport(&r, dir)
	}
	return r
}

func (v *viewer) brief(field, text string) string { return words.Brief(v.Redact(field, text), 80) }

// reportHead is what the list shows of a report.json.
type reportHead struct {
	Verdict  stat.Verdict `json:"verdict"`
	Headline string       `json:"headline"`
	Run      struct {
		LedgerDigest string `json:"ledger_digest"`
	} `json:"run"`
	Candidates []struct {
		Cost *int64 `json:"cost_nanousd"`
	} `json:"candidates"`
}

// addReport adds what the report of a run says. A report of other rows counts as none.
func (v *viewer) addReport(r *run, dir string) {
	f, err := regular.Open(filepath.Join(dir, "report", "report.json"))
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	head, err := readHead(jsontext.NewDecoder(bufio.NewReaderSize(f, 64<<10)))
	if err != nil || head.Run.LedgerDigest != r.digest {
		return
	}
	r.Reported, r.Verdict, r.Headline = true, head.Verdict, words.Clip(v.Redact("headline", head.Headline), 200)
	sum := int64(0)
	for _, c := range head.Candidates {
		if c.Cost == nil {
			return
		}
		sum += *c.Cost
	}
	r.Cost = &sum
}

// readHead reads a report.json as far as its candidates, which come before all that is long.
func readHead(d *jsontext.Decoder) (h reportHead, err error) {
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return h, errors.New("not an object")
	}
	fields := map[string]any{"verdict": &h.Verdict, "headline": &h.Headline, "run": &h.Run, "candidates": &h.Candidates}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return h, err
		}
		key := name.String()
		if to, ok := fields[key]; ok {
			err = json.UnmarshalDecode(d, to)
		} else {
			err = d.SkipValue()
		}
		if err != nil || key == "candidates" {
			return h, err
		}
	}
	return h, errors.New("it has no candidates")
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
