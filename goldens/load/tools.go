package load

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Tools reads tools alone from the file name of fsys: YAML or JSON, either
// a list of tools as a suite has them, or a suite.yaml, of which nothing else is
// read but which kinds its worlds have. path and kinds are those of Suite. The error joins
// every problem found, each a *Problem.
func Tools(fsys fs.FS, name, path string, kinds map[string]world.Kind) ([]tool.Spec, error) {
	l := &loader{fsys: fsys, label: path, kinds: kinds, found: &yamlfile.Findings{}, tools: newOffer()}
	l.readLock()
	if root, ok := l.open(name); ok {
		if root.IsMapping() {
			suite := root.Object(suiteFields)
			l.findKinds(suite)
			root, ok = suite.Need("tools")
		}
		if ok {
			l.readTools(&goldens.Suite{}, root)
		}
	}
	if err := l.found.Join(); err != nil {
		return nil, err
	}
	return l.tools.specs, nil
}

// readServer reads an MCP server, and offers its pinned tools.
func (l *loader) readServer(s *goldens.Suite, item, p yamlfile.Place) {
	if len(item.Entries()) > 1 {
		item.Failf("an entry with mcp has no other field; mark tools in mcp.tools")
	}
	server := toolserver.Read(p, l.label)
	if slices.ContainsFunc(l.servers, func(b toolserver.Server) bool { return b.Name == server.Name }) {
		p.Failf("server %s is described already", server.Name)
		return
	}
	l.servers = append(l.servers, server)
	if l.lock == nil {
		return
	}
	if server.Pinned = l.lock[server.Name]; server.Pinned.Digest == "" {
		p.Failf("the tools of server %s are not pinned; run: cupel suite tools %s --pin", server.Name, l.label)
		return
	}
	for _, offer := range server.Offers(p) {
		if name := offer.Spec.Name; l.define(name, offer.Place) {
			checkSchema(offer.Place, offer.Spec.Schema)
			l.tools.specs = append(l.tools.specs, offer.Spec)
			put(&s.MCP, name, server)
			if a := goldens.Approval(offer.Approve); a != goldens.ApproveAlways {
				put(&s.Approvals, name, a)
			}
		}
	}
}

// readLock reads the pinned lists of tools; there are none without the file.
func (l *loader) readLock() {
	l.lock = toolserver.Lock{}
	if _, err := fs.Stat(l.fsys, toolserver.LockFile); errors.Is(err, fs.ErrNotExist) {
		return
	}
	text, err := ReadFile(l.fsys, toolserver.LockFile)
	if err == nil {
		l.lock, err = toolserver.ReadLock(text)
	}
	if err != nil {
		l.lock = nil
		at := &yamlfile.Source{File: path.Join(l.label, toolserver.LockFile), Found: l.found}
		at.Failf(1, "", "%v; run: cupel suite tools %s --pin", err, l.label)
	}
}

func put[V any](to *map[string]V, name string, v V) {
	if *to == nil {
		*to = map[string]V{}
	}
	(*to)[name] = v
}

// define records where a tool is defined; each tool has one place.
func (l *loader) define(name string, at yamlfile.Place) bool {
	if first, dup := l.tools.places[name]; dup {
		at.Failf("tool %s is defined already, on line %d", name, first.At())
		return false
	}
	l.tools.places[name] = at
	return true
}

// checkSchema records why the schema at p cannot be a tool's: a contradiction at
// its own place, anything else at the schema's.
func checkSchema(p yamlfile.Place, schema json.RawMessage) {
	set, err := tool.NewSet([]tool.Spec{{Name: "tool", Schema: schema}})
	var found tool.Contradictions
	switch {
	case err == nil && slices.Contains(set.Validate(tool.Call{Name: "tool"}), "args:type"):
		p.Failf("no call could satisfy this: its type must be object, as arguments always are")
	case errors.As(err, &found):
		for _, c := range found {
			p.Inside(c.Path).Failf("no call could satisfy this: %s", c.Detail)
		}
	case err != nil:
		p.Failf("not a valid JSON Schema: %s", schemaFault(err))
	}
}
