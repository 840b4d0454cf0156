package load

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/bfcl"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// readFunctions reads the functions that a task offers in place of tools.
func readFunctions(p yamlfile.Place, o yamlfile.Object, t *goldens.Task) {
	before := len(p.Src.Found.List)
	for _, field := range []string{"tools", "each", "answer_schema", "faults", "replies", "approvals", "human", "user", "messages"} {
		if at, ok := o.Get(field); ok {
			at.Failf("a task with functions has no %s: the first reply ends its episode; remove it", field)
		}
	}
	t.Tools = nil
	if t.Functions = p.JSON(); len(p.Src.Found.List) == before {
		_, err := bfcl.Functions(t.Functions)
		p.Faulty(err, "")
	}
	if !slices.Contains(t.Requires, strategy.CanCallOnly) {
		t.Requires = append(t.Requires, strategy.CanCallOnly)
	}
}

// checkFunctions reports functions that no model can be offered, and accepted answers to them
// that cannot be read. It warns of what contradicts itself.
func (l *loader) checkFunctions(s *goldens.Suite, t goldens.Task, where taskPlaces) {
	if t.Functions == nil {
		for i, e := range t.Expect {
			if e.BFCL != "" {
				where.expect[i].FieldAt("bfcl").Failf("the task has no functions; add them, or check calls of tools with calls")
			}
		}
		return
	}
	specs, err := s.ToolsOf(t)
	if err != nil {
		return // which readFunctions has reported
	}
	at := where.object.FieldAt("functions")
	if _, err := tool.NewSet(specs); err != nil && !l.proved {
		at.Failf("%v", err)
		return
	}
	functions, _ := bfcl.Functions(t.Functions)
	for i, e := range t.Expect {
		if e.BFCL == "" {
			continue
		}
		at := where.expect[i].FieldAt("bfcl")
		answer, err := bfcl.New(functions, []byte(e.BFCL))
		if err != nil {
			at.Failf("%v", err)
			continue
		}
		for _, d := range answer.Defects() {
			l.warned.List = append(l.warned.List, &yamlfile.Problem{File: at.Src.File, Line: at.At(), Field: at.Path, Kind: d.Kind, Detail: fmt.Sprintf("task %s: %s: %s", t.ID, d.Kind, d.Detail)})
		}
	}
}
