// Package join brings cassettes that were recorded in several folders, such as those of
// the shards of a nightly run, into the cassettes of a suite. No recording is replaced by an
// older or a stale one.
package join

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Source is a folder of cassettes, laid out as CANDIDATE/TASK/TRIAL.yaml, or a pack of them.
type Source struct {
	Name  string
	Files fs.FS
	// Paths are those of its cassettes.
	Paths []string
}

// Open opens folders and packs. One without any cassette is an error. Call closeAll in the
// end; it is never nil.
func Open(names []string) (sources []Source, closeAll func(), err error) {
	closeAll = func() {
		for _, s := range sources {
			if pack, ok := s.Files.(cassette.Archive); ok {
				_ = pack.Close() // only read: nothing can be lost
			}
		}
	}
	for _, name := range names {
		s, err := open(name)
		sources = append(sources, s)
		if err != nil {
			return sources, closeAll, fmt.Errorf("join cassettes of %s: %w", name, err)
		}
	}
	return sources, closeAll, nil
}

func open(name string) (Source, error) {
	s := Source{Name: name, Files: regular.DirFS(name)}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return s, err
	case info.IsDir() && !packs.Is(name):
		s.Paths, err = cassette.List(s.Files)
	default:
		var pack cassette.Archive
		if pack, err = packs.Open(regular.DirFS(filepath.Dir(name)), filepath.Base(name)); err == nil {
			s.Files, s.Paths = pack, pack.Names()
		}
	}
	if err == nil && !slices.ContainsFunc(s.Paths, func(p string) bool { return strings.Count(p, "/") == 2 }) {
		err = errors.New("it has no CANDIDATE/TASK/TRIAL.yaml; name the folder that contains the candidates' folders")
	}
	return s, err
}

// Suite is what cassettes are joined into.
type Suite struct {
	// Files are the suite's cassettes today: a folder or a pack.
	Files fs.FS
	// States says of the cassettes in files what a replay can expect of them.
	States func(files fs.FS) (map[string]cassettes.Status, error)
	// Secrets finds credentials, which must not be on a cassette.
	Secrets *secrets.Finder
	// Newest decides between different fresh recordings of an episode by their day.
	Newest bool
}

// Skipped is a cassette that is not joined, and why.
type Skipped struct{ Path, Source, Why string }

// Plan says what to write and what not.
type Plan struct {
	// Same counts those that the suite has already.
	Same    int
	Skipped []Skipped
	chosen  map[string]recording
}

// Joined is the number of cassettes to write.
func (p *Plan) Joined() int { return len(p.chosen) }

// recording is one readable cassette.
type recording struct {
	source      Source
	digest, day string
}

// ConflictError names episodes of which there are different fresh recordings.
type ConflictError struct{ Episodes []string }

// Error lists up to ten episodes.
func (e *ConflictError) Error() string {
	list := e.Episodes[:min(len(e.Episodes), 10)]
	text := fmt.Sprintf("%d episodes have different fresh recordings, so nothing was joined:\n%s", len(e.Episodes), strings.Join(list, "\n"))
	if more := len(e.Episodes) - len(list); more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return text + "\ntake the one recorded last with --newest, or leave a folder out"
}

// Decide chooses among the recordings of all sources. Its error is a *ConflictError or
// joins a *cassette.CorruptError or *cassette.SecretError for every cassette that must not
// be joined.
func (s Suite) Decide(sources []Source) (*Plan, error) {
	p := &Plan{chosen: map[string]recording{}}
	states, err := s.States(s.Files)
	if err != nil {
		return nil, err
	}
	found := map[string][]recording{}
	var bad []error
	for _, source := range sources {
		fresh, err := s.States(overlay{source.Files, s.Files})
		if err != nil {
			return nil, err
		}
		for _, path := range source.Paths {
			c, err := s.inspect(source, path)
			if err != nil {
				bad = append(bad, fmt.Errorf("%s: %w", source.Name, err))
				continue
			}
			old, _ := cassette.FileDigest(s.Files, path) // empty if there is none
			state, planned := fresh[path]
			this := recording{source, c.Digest, c.Header.Recorded}
			switch {
			case old == c.Digest:
				p.Same++
			case !planned && c.Header.Fork == "":
				p.skip(path, this, "no episode of the suite uses it")
			case planned && state.State != cassettes.Fresh:
				p.skip(path, this, fmt.Sprintf("%s: %s", state.State, strings.Join(state.Why, "; ")))
			case !slices.ContainsFunc(found[path], func(r recording) bool { return r.digest == c.Digest }):
				found[path] = append(found[path], this)
			}
		}
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	var conflicts ConflictError
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if why := s.choose(p, path, found[path], states[path]); why != "" {
			conflicts.Episodes = append(conflicts.Episodes, strings.TrimSuffix(path, ".yaml")+": "+why)
		}
	}
	if len(conflicts.Episodes) > 0 {
		return nil, &conflicts
	}
	return p, nil
}

func (p *Plan) skip(path string, r recording, why string) {
	p.Skipped = append(p.Skipped, Skipped{path, r.source.Name, why})
}

// inspect reads a cassette, and refuses one with a credential or of another episode.
func (s Suite) inspect(source Source, path string) (*cassette.Contents, error) {
	f := cassette.File{FS: source.Files, Path: path, Secrets: s.Secrets}
	c, err := cassette.Inspect(f)
	if err != nil {
		return nil, err
	}
	if is := cassettes.Path(c.Header.Task, c.Header.Candidate, c.Header.Trial); c.Header.Task != "" && is != path {
		return nil, &cassette.CorruptError{Path: path, Reason: fmt.Sprintf("its header says that it is %.200q", is)}
	}
	secret, err := cassette.FindSecrets(f)
	if err == nil && len(secret) > 0 {
		err = secret[0]
	}
	return c, err
}

// choose takes one of the recordings of an episode, unless the suite's is newer. It returns
// why it cannot.
func (s Suite) choose(p *Plan, path string, all []recording, old cassettes.Status) (conflict string) {
	slices.SortStableFunc(all, func(a, b recording) int { return cmp.Compare(b.day, a.day) })
	best := all[0]
	if len(all) > 1 && (!s.Newest || all[1].day == best.day) {
		return fmt.Sprintf("recorded %s in %s and %s in %s", best.when(), best.source.Name, all[1].when(), all[1].source.Name)
	}
	if old.State == cassettes.Fresh || old.State == "" {
		if c, err := cassette.Inspect(cassette.File{FS: s.Files, Path: path}); err == nil {
			have := recording{day: c.Header.Recorded}
			switch {
			case best.day < have.day:
				p.skip(path, best, fmt.Sprintf("older: recorded %s, and the suite's %s", best.when(), have.when()))
				return ""
			case best.day == have.day && !s.Newest:
				return fmt.Sprintf("recorded %s in %s and on the same day in the suite", best.when(), best.source.Name)
			}
		}
	}
	for _, r := range all[1:] {
		p.skip(path, r, fmt.Sprintf("older: recorded %s, and that in %s %s", r.when(), best.source.Name, best.when()))
	}
	p.chosen[path] = best
	return ""
}

func (r recording) when() string { return cmp.Or(r.day, "on an unknown day") }

// WriteTo adds the chosen cassettes to the suite's pack, which is locked.
func (s Suite) WriteTo(p *Plan, pack *packs.Folder) error {
	for i, path := range slices.Sorted(maps.Keys(p.chosen)) {
		data, err := p.chosen[path].read(path)
		if err == nil {
			err = pack.WriteFile(path, data)
		}
		if err != nil {
			return fmt.Errorf("join cassettes: %d of %d are in the pack, run the command again: %w", i, len(p.chosen), err)
		}
	}
	return nil
}

// read returns the file of a recording.
func (r recording) read(path string) ([]byte, error) {
	data, err := fs.ReadFile(r.source.Files, path)
	if err != nil {
		return nil, err
	}
	if again, err := cassette.FileDigest(r.source.Files, path); err != nil || r.digest != "" && again != r.digest {
		return nil, fmt.Errorf("%s in %s changed meanwhile; run the command again", path, r.source.Name)
	}
	return data, nil
}

// Write puts the chosen cassettes into the suite's folder, and those of its pack, if it has
// no folder. All are written beside their places before the first is replaced: an error
// until then changes nothing.
func (s Suite) Write(p *Plan, dir string) (err error) {
	all := maps.Clone(p.chosen)
	if pack, ok := s.Files.(cassette.Archive); ok {
		for _, path := range pack.Names() {
			if _, ok := all[path]; !ok {
				all[path] = recording{source: Source{Files: pack}}
			}
		}
	}
	var files []*atomicfile.File
	defer func() {
		for _, f := range files {
			f.Abort() // does nothing to those in their places
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		data, err := all[path].read(path)
		if err != nil {
			return fmt.Errorf("join cassettes: %w", err)
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return fmt.Errorf("join cassettes: %w", err)
		}
		f, err := atomicfile.Create(to)
		if err != nil {
			return fmt.Errorf("join cassettes: %w", err)
		}
		files = append(files, f)
		if _, err := f.Write(data); err != nil {
			return fmt.Errorf("join cassettes: %w", err)
		}
	}
	for i, f := range files {
		if err := f.Commit(); err != nil {
			return fmt.Errorf("join cassettes: %d of %d are in their places, run the command again: %w", i, len(files), err)
		}
	}
	return nil
}

// overlay is a file system whose files are in over or else in under.
type overlay struct{ over, under fs.FS }

// Open opens a file.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.over.Open(name)
	if errors.Is(err, fs.ErrNotExist) && o.under != nil {
		return o.under.Open(name)
	}
	return f, err
}
