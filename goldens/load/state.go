package load

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/declared"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// maxState bounds the state of a world, in bytes of JSON.
const maxState = world.MaxState

// readKind reads the kind of a world and its state over those that it starts from, and
// has the kind read the state.
func (l *loader) readKind(o yamlfile.Object, w *suiteWorld) {
	kindAt, named := o.Get("kind")
	stateAt, given := o.Get("state")
	if given {
		before := l.found.Fatal()
		patch := l.readState(stateAt)
		if w.valid = w.valid && l.found.Fatal() == before; !w.valid {
			return
		}
		if w.state != nil {
			patch = plainjson.Merge(w.state, patch)
		}
		w.state, w.stateAt = patch, append([]yamlfile.Place{stateAt}, w.stateAt...)
	}
	processAt, run := o.Get("process")
	if run {
		w.process = l.readProcess(processAt)
	}
	switch {
	case named:
		if w.Kind = kindAt.Filled(); w.Kind == "" {
			return
		}
	case run:
		w.Kind, kindAt = processKind, processAt
	default:
		kindAt = o.Place
	}
	if rules := len(l.tools.rules.Tools()) > 0; rules && w.Kind == "" {
		w.Kind = declared.Kind
	} else if !named && !given && !run {
		return
	}
	if !w.valid {
		return
	}
	w.Maker = l.kind(kindAt, w)
	if w.State = nil; w.state != nil {
		if w.State = tool.AppendCanonical(nil, w.state); len(w.State) > maxState {
			stateAt.Failf("the state is larger than %d MiB", maxState>>20)
			return
		}
	}
	if binder, ok := w.Maker.(world.Binder); ok {
		bound, err := binder.Bind(w.State)
		if err != nil {
			l.badState(w, kindAt, err)
			return // with the kind as it is, so that paths of states are checked nevertheless
		}
		w.Maker = bound
	}
}

// kind returns the kind of a world; if it does not exist, nil and a recorded problem.
func (l *loader) kind(p yamlfile.Place, w *suiteWorld) world.Kind {
	name := w.Kind
	known := append(slices.Sorted(maps.Keys(l.kinds)), processKind)
	k, ok := l.kinds[name]
	switch {
	case name == processKind && w.process == nil:
		p.Failf("a world of kind process needs its command: write process: {command: [python3, world.py]}")
	case name == processKind:
		w.Program = l.programDigest(p, *w.process)
		return *w.process
	case w.process != nil:
		p.Failf("a world with a process must be of kind process, but is of kind %q", name)
	case name == declared.Kind && len(l.tools.rules.Tools()) > 0:
		w.Program = l.tools.rules.Digest()
		return l.tools.rules
	case name == declared.Kind:
		p.Failf("a declared world needs tools with rules; see docs/worlds.md")
	case name == "":
		p.Failf("a world with a state needs its kind; known: %s", yamlfile.Listed(known))
	case !ok:
		p.Failf("unknown kind of world %q%s; known: %s. A program registers others: see docs/extend.md", name, yamlfile.Suggest(name, known), yamlfile.Listed(known))
	}
	return k
}

// badState records the problems of a state, each where the value is written.
func (l *loader) badState(w *suiteWorld, at yamlfile.Place, err error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, one := range joined.Unwrap() {
			l.badState(w, at, one)
		}
		return
	}
	var bad *world.StateError
	if !errors.As(err, &bad) {
		at.Failf("%s", err)
		return
	}
	keys, _ := state.ParsePath(bad.Path) // without one, the state as a whole
	if len(w.stateAt) > 0 {
		at = w.stateAt[0]
	}
	for _, p := range w.stateAt {
		if p.Leads(keys) {
			at = p
			break
		}
	}
	if at.IsMapping() {
		at.Inside(keys).Failf("%s", bad.Detail)
		return
	}
	at.Failf("%s", bad) // of a file
}

// readState reads a state: a mapping, or the name of a JSON file of the suite.
func (l *loader) readState(p yamlfile.Place) any {
	switch {
	case p.Null():
		return nil
	case p.IsMapping():
		return yamlfile.DecodeJSON(p.JSONWithin(maxState))
	case p.Kind() != "a string":
		p.Failf("must be a mapping, or the name of a JSON file of the suite, but is %s", p.Kind())
		return nil
	}
	name := p.Filled()
	if !fs.ValidPath(name) {
		p.Failf("%q must be a path below the suite folder, with / between folders and no ..", name)
		return nil
	}
	text, err := readFile(l.fsys, name, maxState)
	if err != nil {
		p.Failf("%s: %s", name, err)
		return nil
	}
	var whole jsontext.Value // reading it refuses what encoding/json lets pass, such as a key that is there twice
	if err := strict.Unmarshal(text, &whole); err != nil {
		line := 1
		if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			line += bytes.Count(text[:min(int(syntax.ByteOffset), len(text))], []byte("\n"))
		}
		p.Failf("%s:%d: is not JSON: %s", name, line, strings.TrimPrefix(err.Error(), "jsontext: "))
		return nil
	}
	object, ok := yamlfile.DecodeJSON(text).(map[string]any)
	if !ok {
		p.Failf("%s: must contain a JSON object", name)
		return nil
	}
	return object
}
