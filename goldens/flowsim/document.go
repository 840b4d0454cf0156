package flowsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/table"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
)

// section is a part of the state: entities by id, each with its JSON. Entities are
// immutable: a change replaces one.
type section[T any] struct {
	all map[string]*T
	ids []string // in order of their bytes
	raw map[string]json.RawMessage
	// before has the JSON, at the last report, of those that have changed since; nil stands
	// for one that did not exist.
	before map[string]json.RawMessage
	write  func(*T) json.RawMessage
}

func newSection[T any](write func(*T) json.RawMessage) section[T] {
	return section[T]{all: map[string]*T{}, raw: map[string]json.RawMessage{}, write: write}
}

func (s section[T]) clone() section[T] {
	s.all, s.raw, s.ids, s.before = maps.Clone(s.all), maps.Clone(s.raw), slices.Clone(s.ids), nil
	return s
}

// put adds or replaces an entity.
func (s *section[T]) put(id string, v *T) { s.putText(id, v, s.write(v)) }

// putText is put of an entity whose JSON is known.
func (s *section[T]) putText(id string, v *T, text json.RawMessage) {
	s.touch(id)
	if _, exists := s.all[id]; !exists {
		at, _ := slices.BinarySearch(s.ids, id)
		s.ids = slices.Insert(s.ids, at, id)
	}
	s.all[id], s.raw[id] = v, text
}

// remove deletes an entity.
func (s *section[T]) remove(id string) {
	s.touch(id)
	if at, found := slices.BinarySearch(s.ids, id); found {
		s.ids = slices.Delete(s.ids, at, at+1)
	}
	delete(s.all, id)
	delete(s.raw, id)
}

func (s *section[T]) touch(id string) {
	if s.before == nil {
		s.before = map[string]json.RawMessage{}
	}
	if _, touched := s.before[id]; !touched {
		s.before[id] = s.raw[id]
	}
}

// numbered yields the entities in the order of the numbers of their ids.
func (s *section[T]) numbered() []string {
	ids := slices.Clone(s.ids)
	slices.SortFunc(ids, compareIDs)
	return ids
}

// part is a section without the type of its entities.
type part interface {
	appendJSON(out []byte) []byte
	takeChanges(out []world.Change, name string) []world.Change
}

func (s *section[T]) appendJSON(out []byte) []byte {
	out = append(out, '{')
	for i, id := range s.ids {
		if i > 0 {
			out = append(out, ',')
		}
		if strings.ContainsAny(id, `"\<>&`) { // of a file
			out = append(out, must(id)...)
		} else {
			out = append(append(append(out, '"'), id...), '"')
		}
		out = append(append(out, ':'), s.raw[id]...)
	}
	return append(out, '}')
}

// takeChanges appends what has changed since it was called last.
func (s *section[T]) takeChanges(out []world.Change, name string) []world.Change {
	if len(s.before) == 0 { // of most sections, after each call
		return out
	}
	var few [4]string
	ids := slices.AppendSeq(few[:0], maps.Keys(s.before))
	slices.Sort(ids)
	for _, id := range ids {
		out = appendDiff(out, state.Path{name, id}, s.before[id], s.raw[id])
	}
	clear(s.before)
	return out
}

func appendDiff(out []world.Change, p state.Path, from, to json.RawMessage) []world.Change {
	for _, c := range state.DiffAt(nil, p, from, to) {
		out = append(out, world.Change{Path: c.Path.String(), From: c.From, To: c.To})
	}
	return out
}

// list is a part of the state that only grows.
type list struct {
	raw      []json.RawMessage
	reported int // how many of them have been reported
}

func (l *list) appendJSON(out []byte) []byte {
	out = append(out, '[')
	for i, text := range l.raw {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, text...)
	}
	return append(out, ']')
}

func (l *list) takeChanges(out []world.Change, name string) []world.Change {
	for ; l.reported < len(l.raw); l.reported++ {
		out = appendDiff(out, state.Path{name, strconv.Itoa(l.reported)}, nil, l.raw[l.reported])
	}
	return out
}

// document is all of the state: what tools change, and what episodes are judged by.
type document struct {
	workflows   section[workflow]
	credentials section[credential]
	executions  section[execution]
	projects    section[project]
	folders     section[folder]
	tags        section[tag]
	files       section[string]
	items       section[workItem]
	rows        tables
	effects     list
	tables      *table.Set
	// last has the number of the latest id of each prefix.
	last map[string]int
	size int // of the latest Text
}

func newDocument() document {
	return document{
		workflows: newSection(writeWorkflow), credentials: newSection(writePlain[credential]), executions: newSection(writePlain[execution]),
		projects: newSection(writePlain[project]), folders: newSection(writePlain[folder]), tags: newSection(writePlain[tag]),
		files: newSection(writePlain[string]), items: newSection(writePlain[workItem]), rows: newTables(),
		tables: &table.Set{}, last: map[string]int{},
	}
}

func writePlain[T any](v *T) json.RawMessage { return must(v) }

func (d *document) clone() document {
	return document{
		workflows: d.workflows.clone(), credentials: d.credentials.clone(), executions: d.executions.clone(),
		projects: d.projects.clone(), folders: d.folders.clone(), tags: d.tags.clone(), files: d.files.clone(),
		items: d.items.clone(), rows: d.rows.clone(), effects: list{slices.Clip(d.effects.raw), len(d.effects.raw)}, tables: d.tables.Clone(), last: maps.Clone(d.last), size: d.size,
	}
}

// parts yields the sections by their keys, in order.
func (d *document) parts() func(yield func(string, part) bool) {
	return func(yield func(string, part) bool) {
		_ = yield("credentials", &d.credentials) && yield("effects", &d.effects) && yield("executions", &d.executions) &&
			yield("files", &d.files) && yield("folders", &d.folders) && yield("projects", &d.projects) && yield("tables", &d.rows) &&
			yield("tags", &d.tags) && yield("workItems", &d.items) && yield("workflows", &d.workflows)
	}
}

// Text implements world.Lister.
func (d *document) Text() json.RawMessage {
	out := append(make([]byte, 0, d.size+d.size/8+64), '{')
	for name, p := range d.parts() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), name...), '"', ':')
		out = p.appendJSON(out)
	}
	d.size = len(out)
	return append(out, '}')
}

// takeChanges lists what has changed since it was called last.
func (d *document) takeChanges() (out []world.Change) {
	for name, p := range d.parts() {
		out = p.takeChanges(out, name)
	}
	return out
}

// next returns the next id of a prefix.
func (d *document) next(prefix string) string {
	d.last[prefix]++
	return prefix + "_" + strconv.Itoa(d.last[prefix])
}
