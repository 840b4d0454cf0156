package goldens

import (
	"errors"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/bfcl"
)

// ToolsOf returns the tools that a task offers, in the task's order: tools of the suite, or
// the functions of the task. The error is that of functions that cannot be read.
func (s *Suite) ToolsOf(t Task) (specs []tool.Spec, err error) {
	if t.Functions != nil {
		functions, err := bfcl.Functions(t.Functions)
		for _, f := range functions {
			specs = append(specs, tool.Spec{Name: f.Offered, Description: f.Description, Schema: f.Schema})
		}
		return specs, err
	}
	for _, name := range t.Tools {
		if i := slices.IndexFunc(s.Tools, func(spec tool.Spec) bool { return spec.Name == name }); i >= 0 {
			specs = append(specs, s.Tools[i])
		}
	}
	return specs, nil
}

// bfcl checks the calls that the model asked for, whether or not they could be carried out.
func (s *scorer) bfcl(e *Expect) {
	if e.BFCL == "" {
		return
	}
	functions, err1 := bfcl.Functions(s.task.Functions)
	answer, err2 := bfcl.New(functions, []byte(e.BFCL))
	if err := errors.Join(err1, err2); err != nil {
		s.broken("function_calls", err)
		return
	}
	calls := make([]bfcl.Call, len(s.asked))
	for i, c := range s.asked {
		calls[i] = bfcl.Call{Name: c.Call.Name, Args: string(c.Call.Args)}
	}
	why := answer.Wrong(calls)
	s.check("function_calls", why == "", "%s", why)
}
