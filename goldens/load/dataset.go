package load

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/dataset"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// maxRowProblems bounds the problems of one dataset that are named; the others are counted.
const maxRowProblems = 100

// datasetFields are those of a task and from, the file that fills it in.
var datasetFields = append([]string{"from"}, taskFields...)

// textFields of a task are texts also where a column has a number.
var textFields = []string{"id", "title", "tier", "request", "constraints", "session"}

// fromDataset reports whether an entry of tasks is filled from a file.
func fromDataset(p yamlfile.Place) bool {
	return p.IsMapping() && slices.ContainsFunc(p.Entries(), func(e yamlfile.Entry) bool { return e.Key == "from" })
}

// readDataset reads a task for each row of a CSV or JSON Lines file.
func (l *loader) readDataset(s *goldens.Suite, p yamlfile.Place) {
	before := len(l.found.List)
	o := p.Object(datasetFields)
	from, _ := o.Get("from")
	name := from.Filled()
	for _, field := range []string{"id", "request", "expect"} {
		o.Need(field)
	}
	if len(l.found.List) > before {
		return
	}
	columns, rows, ok := l.rows(from, name)
	if !ok {
		return
	}
	template := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i, n := range p.Value().Content {
		if i%2 == 0 && n.Value != "from" {
			template.Content = append(template.Content, n, p.Value().Content[i+1])
		}
	}
	checkColumns(o, columns)
	if len(l.found.List) > before {
		return
	}
	file := path.Join(l.label, name)
	for _, row := range rows {
		l.addRow(s, file, template, row)
	}
	if more := len(l.found.List) - before - maxRowProblems; more > 0 {
		last := l.found.List[before+maxRowProblems-1]
		l.found.List = append(l.found.List[:before+maxRowProblems], &yamlfile.Problem{File: last.File, Line: last.Line, Detail: fmt.Sprintf("and %d more problems of this file", more)})
	}
}

// rows reads the file of a dataset. ok is false if it has a problem.
func (l *loader) rows(at yamlfile.Place, name string) (columns []string, rows []dataset.Row, ok bool) {
	var read func([]byte, int) ([]string, []dataset.Row, []dataset.Fault)
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		read = dataset.CSV
	case ".jsonl", ".ndjson":
		read = dataset.Lines
	default:
		at.Failf("%q must be a .csv or .jsonl file", name)
		return nil, nil, false
	}
	text, err := readFile(l.fsys, name, dataset.MaxBytes)
	if err != nil {
		at.Failf("%q: %s", name, err)
		return nil, nil, false
	}
	columns, rows, faults := read(text, maxTasks)
	src := &yamlfile.Source{File: path.Join(l.label, name), Found: l.found}
	for i, f := range faults {
		if i == maxRowProblems {
			src.Failf(f.Line, "", "and %d more problems of this file", len(faults)-i)
			break
		}
		src.Failf(f.Line, "", "%s", f.Detail)
	}
	if len(faults) == 0 && len(rows) == 0 {
		src.Failf(1, "", "must have at least one row below the header")
	}
	return columns, rows, len(faults) == 0 && len(rows) > 0
}

// checkColumns reports references to columns that no row has.
func checkColumns(p yamlfile.Object, columns []string) {
	var walk func(yamlfile.Place)
	walk = func(p yamlfile.Place) {
		switch p.Value().Kind {
		case yaml.MappingNode:
			for _, e := range p.Entries() {
				walk(e.Value)
			}
		case yaml.SequenceNode:
			for _, item := range p.Items() {
				walk(item)
			}
		default:
			text, _, _ := p.Scalar()
			for _, name := range dataset.Names(text) {
				if !slices.Contains(columns, name) {
					p.Failf("the file has no column %q%s; it has: %s; write {{%s}} for a text in braces", name, yamlfile.Suggest(name, columns), yamlfile.Listed(columns), name)
				}
			}
		}
	}
	walk(p.Place)
}

// addRow adds the task of one row. Its problems are at the row.
func (l *loader) addRow(s *goldens.Suite, file string, template *yaml.Node, row dataset.Row) {
	src := &yamlfile.Source{File: file, Found: l.found}
	task, detail := dataset.Fill(template, row)
	if detail != "" {
		src.Failf(row.Line, "", "%s", detail)
		return
	}
	for i := 0; i < len(task.Content); i += 2 {
		if n := task.Content[i+1]; n.Kind == yaml.ScalarNode && n.Tag != "!!null" && slices.Contains(textFields, task.Content[i].Value) {
			n.Tag, n.Style = "!!str", yaml.DoubleQuotedStyle
		}
	}
	l.addTask(s, yamlfile.Place{Src: src, Node: task}, nil)
}
