// Package load reads suites from YAML and checks them: every field, what fields say
// about each other, and that an episode could meet each accepted outcome.
package load

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/declared"
)

// The bounds of a suite. They keep a hostile or generated folder from taking
// the machine with it; no suite written by people comes near them.
const (
	maxFileBytes = 4 << 20
	maxTaskFiles = 1_000
	maxTasks     = 10_000
)

// SuiteFile is the one file every suite has; it names the others.
const SuiteFile = "suite.yaml"

// Suite reads the suite folder fsys: suite.yaml and the task files it names.
// path is the name of that folder; it goes in front of the file names in
// problems. kinds are the kinds of worlds that the suite may name. The error joins every
// problem found, each a *Problem, ordered by file and line; the suite is nil unless the
// error is.
func Suite(fsys fs.FS, path string, kinds map[string]world.Kind) (*goldens.Suite, error) {
	return (&loader{fsys: fsys, label: path, kinds: kinds, found: &yamlfile.Findings{}}).load()
}

// Proved is Suite for a suite whose outcomes were proved before, such as one inside the
// program, which tests prove: that an episode can meet them is not proved again, and
// there are no warnings.
func Proved(fsys fs.FS, path string, kinds map[string]world.Kind) (*goldens.Suite, error) {
	return (&loader{fsys: fsys, label: path, kinds: kinds, found: &yamlfile.Findings{}, proved: true}).load()
}

func (l *loader) load() (*goldens.Suite, error) {
	s := l.suite()
	l.crossCheck(s)
	if len(l.found.List) == 0 {
		l.cross(s)
	}
	if len(l.found.List) == 0 { // every state is known
		l.tools.rules.CheckPaths()
	}
	if err := l.found.Join(); err != nil {
		return nil, err
	}
	s.FS, s.Path, s.Worlds = l.fsys, l.label, l.kinds
	s.Digest = s.ContentDigest()
	s.Advice, s.Warnings = l.advice(s), l.warned.Sorted()
	return s, nil
}

// loader holds what reading one suite has found so far.
type loader struct {
	fsys  fs.FS
	label string
	kinds map[string]world.Kind
	used  []world.Kind // by the suite's worlds
	found *yamlfile.Findings
	// warned are the problems that do not keep a suite from being used.
	warned yamlfile.Findings
	// proved says that no outcome needs a proof.
	proved bool

	defaults taskDefaults
	tools    *offer
	// servers are the MCP servers, lock their pinned tools; nil if these are not needed.
	servers []toolserver.Server
	lock    toolserver.Lock
	worlds  map[string]*namedWorld
	// worldNames keeps the order of the file, for messages.
	worldNames []string
	rules      []human.Rules // of worlds
	injections []injection
	// taken maps a task's folded id to where it was first defined.
	taken map[string]string
	// where remembers the places the cross checks want to point at, by task index.
	where []taskPlaces
}

// taskPlaces are the places of one task that checks across fields point at.
type taskPlaces struct {
	task   yamlfile.Place
	object yamlfile.Object
	expect []yamlfile.Object
	human  human.Rules
}

// offer is the suite's tools by name, with the places they are defined.
type offer struct {
	specs  []tool.Spec
	places map[string]yamlfile.Place
	rules  *declared.Rules // of the tools that have any
}

func newOffer() *offer {
	return &offer{places: map[string]yamlfile.Place{}, rules: declared.New()}
}

func (o *offer) names() []string {
	names := make([]string, len(o.specs))
	for i, s := range o.specs {
		names[i] = s.Name
	}
	return names
}

// open reads one file of the suite and returns its document. ok is false when
// there is nothing to read on with; the problem is then recorded.
func (l *loader) open(name string) (root yamlfile.Place, ok bool) {
	r := &yamlfile.Source{File: path.Join(l.label, name), Found: l.found}
	text, err := ReadFile(l.fsys, name)
	if err != nil {
		r.Failf(1, "", "%s", err)
		return yamlfile.Place{}, false
	}
	return r.Parse(text)
}

// ReadFile returns the content of a file of a suite folder. It refuses one that is too
// large.
func ReadFile(fsys fs.FS, name string) ([]byte, error) { return readFile(fsys, name, maxFileBytes) }

func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("there is no such file")
		}
		return nil, fmt.Errorf("cannot open the file: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("cannot read the file: %w", err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("the file is larger than %d MiB", most>>20)
	}
	return text, nil
}

// taskFiles returns the files a glob of suite.yaml names, in name order.
func (l *loader) taskFiles(p yamlfile.Place, pattern string) []string {
	if !fs.ValidPath(pattern) {
		p.Failf("%q must be a path below the suite folder, with / between folders and no ..", pattern)
		return nil
	}
	names, err := fs.Glob(l.fsys, pattern)
	switch {
	case err != nil:
		p.Failf("%q is not a valid pattern: %v", pattern, err)
	case len(names) == 0:
		p.Failf("no file matches %q", pattern)
	case len(names) > maxTaskFiles:
		p.Failf("%q matches %d files; at most %d are read", pattern, len(names), maxTaskFiles)
		return nil
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool {
		return strings.EqualFold(path.Base(n), SuiteFile)
	})
}
