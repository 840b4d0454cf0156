package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Bounds of what comes with a request.
const (
	maxInputs     = 20
	maxItems      = 100 // of the input that each names
	maxImages     = 8
	maxImageBytes = 4 << 20
	maxSession    = 50 // tasks
)

// readGiven reads what a task gives beyond words, and what its answer must look like.
func (l *loader) readGiven(o yamlfile.Object, t *goldens.Task) {
	yamlfile.Read(o, "inputs", &t.Inputs, inputs)
	if p, ok := o.Get("each"); ok {
		if t.Each = p.Filled(); t.Each != "" {
			checkEach(p, *t)
		}
	}
	yamlfile.Read(o, "images", &t.Images, l.images)
	if p, ok := o.Get("answer_schema"); ok {
		before := len(l.found.List)
		t.AnswerSchema = p.JSON()
		if len(l.found.List) == before {
			checkAnswerSchema(p, t.AnswerSchema)
		}
	}
	if p, ok := o.Get("session"); ok {
		t.Session = p.Filled()
		p.CheckName(yamlfile.TaskName, t.Session)
	}
}

// inputs reads named values, in the order written.
func inputs(p yamlfile.Place) []strategy.Input {
	var out []strategy.Input
	for _, e := range p.Entries() {
		e.KeyAt.CheckName(yamlfile.ToolName, e.Key)
		out = append(out, strategy.Input{Name: e.Key, Value: e.Value.JSON()})
	}
	if p.IsMapping() && (len(out) == 0 || len(out) > maxInputs) {
		p.Failf("must have 1 to %d values, but has %d", maxInputs, len(out))
	}
	return out
}

// checkAnswerSchema records why no answer could fit the schema at p.
func checkAnswerSchema(p yamlfile.Place, schema json.RawMessage) {
	_, _, err := goldens.AnswerSet(schema)
	var found tool.Contradictions
	switch {
	case errors.As(err, &found):
		p.Failf("no answer could fit this: %s", found)
	case err != nil:
		p.Failf("not a valid JSON Schema: %s", strings.ReplaceAll(schemaFault(err), "/properties/"+goldens.AnswerName, ""))
	}
}

// template matches what a request leaves open for an item.
var template = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// checkEach compares the items of a task with its request.
func checkEach(p yamlfile.Place, t goldens.Task) {
	i := slices.IndexFunc(t.Inputs, func(in strategy.Input) bool { return in.Name == t.Each })
	if i < 0 {
		var names []string
		for _, in := range t.Inputs {
			names = append(names, in.Name)
		}
		p.Failf("the task has no input %q%s; it has: %s", t.Each, yamlfile.Suggest(t.Each, names), yamlfile.Listed(names))
		return
	}
	items := t.Items()
	if len(items) == 0 || len(items) > maxItems {
		p.Failf("input %s must be a list of 1 to %d items", t.Each, maxItems)
		return
	}
	for _, m := range template.FindAllStringSubmatch(t.Request, -1) {
		for k, item := range items {
			var fields map[string]json.RawMessage
			_ = json.Unmarshal(item, &fields) // what is not an object has no fields
			if _, ok := fields[m[1]]; m[1] != "item" && !ok {
				p.Failf("the request has {%s}, but item %d of input %s has no such field", m[1], k+1, t.Each)
				break
			}
		}
	}
}

// imageTypes are what every wire takes that takes images.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func (l *loader) images(p yamlfile.Place) []goldens.Picture {
	names := p.Words()
	if len(names) == 0 || len(names) > maxImages {
		p.Failf("must name 1 to %d files, but names %d", maxImages, len(names))
		return nil
	}
	var out []goldens.Picture
	for i, item := range p.Items() {
		if names[i] == "" {
			continue
		}
		data, err := ReadImage(l.fsys, names[i])
		if err != nil {
			item.Failf("image %q: %s", names[i], err)
			continue
		}
		media := http.DetectContentType(data)
		if !slices.Contains(imageTypes, media) {
			item.Failf("image %q: must be PNG, JPEG, GIF or WebP, but its content is %s", names[i], media)
		}
		out = append(out, goldens.Picture{File: names[i], MediaType: media, Data: data})
	}
	return out
}

// ReadImage reads an image below the suite folder. A link could lead out of it.
func ReadImage(fsys fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, errors.New("must be a path below the suite folder, with slashes and no parent folders")
	}
	for at := name; at != "."; at = path.Dir(at) {
		if info, err := fs.Lstat(fsys, at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a symbolic link: put the file itself there", at)
		}
	}
	return readFile(fsys, name, maxImageBytes)
}

// checkSessions compares the tasks of a session with each other: a scripted one has
// another candidate, and would never be there to be remembered.
func (l *loader) checkSessions(s *goldens.Suite) {
	first, size := map[string]int{}, map[string]int{}
	for i, t := range s.Tasks {
		if t.Session == "" {
			continue
		}
		at := l.where[i].object.FieldAt("session")
		if size[t.Session]++; size[t.Session] == maxSession+1 {
			at.Failf("session %s has more than %d tasks", t.Session, maxSession)
		}
		head, ok := first[t.Session]
		if !ok {
			first[t.Session] = i
		} else if s.Tasks[head].Scripted != t.Scripted {
			at.Failf("session %s starts with task %s: all of its tasks must be scripted, or none", t.Session, s.Tasks[head].ID)
		}
	}
}
