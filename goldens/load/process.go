package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/process"
)

// processKind is the kind of worlds that a command implements.
const processKind = "process"

var processFields = []string{"command", "timeout", "mcp", "env"}

// readProcess reads the command of worlds of kind process. It runs in the folder of the
// suite.
func (l *loader) readProcess(p yamlfile.Place) *process.Kind {
	k := &process.Kind{Dir: l.label, Timeout: process.DefaultTimeout}
	o := p.Object(processFields)
	if p, ok := o.Need("command"); ok {
		if k.Command = p.Words(); len(k.Command) == 0 {
			p.Failf("must be a list of the program and its arguments, such as [python3, world.py]")
		}
	}
	yamlfile.Read(o, "timeout", &k.Timeout, yamlfile.Place.Duration)
	yamlfile.Read(o, "mcp", &k.MCP, yamlfile.Place.Flag)
	if p, ok := o.Get("env"); ok {
		k.Env = p.Words()
		for i, item := range p.Items() {
			if k.Env[i] != "" && !yamlfile.EnvName.MatchString(k.Env[i]) {
				item.Failf("must be the name of an environment variable, never its value")
			}
		}
	}
	return k
}

// programDigest is the SHA-256 hex of a command and of the files of the suite that it names:
// other programs are other worlds.
func (l *loader) programDigest(p yamlfile.Place, k process.Kind) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %t\n", k.Command, k.MCP)
	for _, arg := range k.Command {
		name := path.Clean(arg)
		info, err := fs.Stat(l.fsys, name)
		if !fs.ValidPath(name) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := readFile(l.fsys, name, maxState)
		if err != nil {
			p.Failf("%s: %s", arg, err)
			continue
		}
		_, _ = fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Processes reads the worlds of kind process of the suite folder fsys, by name, its MCP
// servers, and nothing else but what they need: a suite whose tools are not written or pinned
// yet can be asked for them. path is the folder on disk. The error is that of Suite.
func Processes(fsys fs.FS, path string, kinds map[string]world.Kind) (map[string]process.Kind, []toolserver.Server, error) {
	l := &loader{fsys: fsys, label: path, kinds: kinds, found: &yamlfile.Findings{}, tools: newOffer()}
	if root, ok := l.open(SuiteFile); ok {
		o := root.Object(suiteFields)
		if p, ok := o.Get("tools"); ok {
			l.readTools(&goldens.Suite{}, p)
		}
		l.readWorlds(o)
	}
	if err := l.found.Join(); err != nil {
		return nil, nil, err
	}
	out := map[string]process.Kind{}
	for name, w := range l.worlds {
		if k, ok := w.Maker.(process.Kind); ok {
			out[name] = k
		}
	}
	return out, l.servers, nil
}

// findScorers says where the programs of checks run, and what they are.
func (l *loader) findScorers(t *goldens.Task, places []yamlfile.Object) {
	known := map[string]scorer.Spec{} // by name, of the outcomes so far
	for i := range t.Expect {
		t.Expect[i].Scores = slices.Clone(t.Expect[i].Scores) // outcomes inherit them
		for k := range t.Expect[i].Scores {
			spec := &t.Expect[i].Scores[k]
			at := places[i].FieldAt("score")
			if spec.Exec != nil {
				spec.Dir, spec.Digest = l.label, l.programDigest(at, process.Kind{Command: spec.Exec})
			}
			if was, ok := known[spec.Name]; ok && !reflect.DeepEqual(*spec, was) {
				at.Failf("another outcome of the task has another check named %q; give it a name", spec.Name)
			}
		}
		for _, spec := range t.Expect[i].Scores {
			known[spec.Name] = spec
		}
	}
}
