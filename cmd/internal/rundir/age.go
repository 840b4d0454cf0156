package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/clip"
)

// age is what a name such as "latest" asks for.
type age struct {
	previous bool // the run before the latest one
	any      bool // partial runs count, too
}

var ages = map[string]age{"latest": {}, "previous": {previous: true}, "latest-any": {any: true}, "previous-any": {previous: true, any: true}}

// IsAge says whether a name is not an id but one such as "latest".
func IsAge(name string) bool { _, ok := ages[name]; return ok }

// aged is a run folder and its manifest, which is empty if it cannot be read.
type aged struct {
	dir     string
	written int64 // when the manifest was written, in nanoseconds since 1970
	m       manifest.Manifest
}

func (r aged) name() string { return filepath.Base(r.dir) }

// skip is a run that was not chosen and why.
func (r aged) skip(why string) string { return fmt.Sprintf("%s (%s)", r.name(), why) }

// Partial says why a run is of a part of its suite only; empty for a run of all tasks. A
// choice of candidates leaves a run whole, because each candidate is judged by itself.
func Partial(m manifest.Manifest) string {
	switch {
	case m.Fork != nil:
		return "a fork"
	case m.Shard != "":
		return "shard " + m.Shard
	case m.NotSelected > 0:
		return fmt.Sprintf("a selection of tasks or episodes, which leaves out %d", m.NotSelected)
	}
	return ""
}

// byAge finds the newest run of a whole suite, or the one of the same suite before it.
// Only if all runs are partial, it takes these. skipped are the partial runs that it passed
// over, with the reasons. A run that cannot be read is taken, so that reading it says what
// is wrong.
func byAge(runs string, folders []string, want age) (dir string, skipped []string, err error) {
	var found []aged
	for _, name := range folders {
		r := aged{dir: filepath.Join(runs, name)}
		at, _ := isRun(r.dir)
		r.written = at.UnixNano()
		found = append(found, r)
	}
	// Stable: of runs written at the same time the first by name is the latest.
	slices.SortStableFunc(found, func(a, b aged) int { return cmp.Compare(b.written, a.written) })
	latest := -1
	for i := range found {
		r := &found[i]
		r.m, _ = manifest.Read(r.dir)
		if want.any || Partial(r.m) == "" {
			latest = i
			break
		}
		skipped = append(skipped, r.skip(Partial(r.m)))
	}
	if latest < 0 {
		latest, skipped = 0, nil // all runs are partial
	}
	first := found[latest]
	if !want.previous {
		return first.dir, skipped, nil
	}
	skipped = nil
	var others []string
	for _, r := range found[latest+1:] {
		r.m, _ = manifest.Read(r.dir)
		why := Partial(r.m)
		switch {
		case r.m.RunID != "" && first.m.RunID != "" && r.m.Suite != first.m.Suite:
			others = append(others, r.skip("suite "+r.m.Suite))
		case want.any || (why == "") == (Partial(first.m) == ""):
			return r.dir, skipped, nil
		default:
			skipped = append(skipped, r.skip(cmp.Or(why, "a run of the whole suite")))
		}
	}
	return "", nil, exit.Usage(noPrevious(first, append(skipped, others...)))
}

// noPrevious says that a run is the first of its suite, and what to do.
func noPrevious(r aged, skipped []string) error {
	text := fmt.Sprintf("no run \"previous\": %s is the only such run of suite %s below %s%s\n"+
		"two identical replays are one run: a replay that changes nothing rewrites the folder of the run that it repeats\n"+
		"change the agent or the suite and run again", r.name(), r.m.Suite, filepath.Dir(r.dir), listed("; skipped: ", skipped))
	if len(r.m.Candidates) > 1 {
		text += fmt.Sprintf(", or compare two candidates of one run: cupel compare latest:%s latest:%s", r.m.Candidates[0].Name, r.m.Candidates[1].Name)
	}
	return errors.New(text)
}

// listed joins the first few items after a lead; empty without any.
func listed(lead string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return lead + clip.Names(items, 3)
}

// Skipped says which partial runs "latest" or "previous" passes over and why; empty if
// there are none, and for any other name.
func Skipped(runs, name string) string {
	want, ok := ages[name]
	folders, _ := runFolders(runs)
	if !ok || len(folders) == 0 {
		return ""
	}
	dir, skipped, _ := byAge(runs, folders, want)
	return listed(fmt.Sprintf("%s is %s; partial runs that it skips (take them by id, or with %s-any): ", name, filepath.Base(dir), name), skipped)
}

// runFolders are the names of the run folders below a folder, sorted. A folder that does
// not exist has none.
func runFolders(runs string) (names []string, err error) {
	entries, err := os.ReadDir(runs)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	for _, e := range entries {
		if _, ok := isRun(filepath.Join(runs, e.Name())); ok {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
