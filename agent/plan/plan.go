// Package plan reads the plan of strategy plan: it turns a model's text into a
// valid plan or the list of all faults. It also
// computes the plan's graph, its schemas and its templates. It does not run plans.
package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Tool is the name of the tool that takes a plan, Finish of the one that takes a
// step's result.
const (
	Tool   = "create_task"
	Finish = "finish_step"
)

// Plan is a task broken into steps.
type Plan struct {
	Title string
	Steps []Step
}

// Step is one step of a plan.
type Step struct {
	ID, Instructions string
	// DependsOn are steps and inputs, each once, in the order written.
	DependsOn []string
	Mode      Mode
	// OutputSchema is what the result must fit, tightened; nil means the result is
	// text, except that of mode Process, which is the list of its items' results.
	OutputSchema json.RawMessage
	// PerItem is the template of an item's instructions, and PerItemSchema what its
	// result must fit, tightened, nil for text; of mode Process only.
	PerItem       string
	PerItemSchema json.RawMessage
	// Tools are the only tools the step may use; nil means all, empty none.
	Tools []string
	// List is the dependency whose items are worked on, of mode Process only.
	List string
}

// Mode is how a step is carried out.
type Mode string

// The modes. The empty one is one conversation and a result, as are Discover,
// whose result is a list, and Aggregate, which brings results together.
const (
	Discover  Mode = "discover"
	Process   Mode = "process" // one conversation for each item of a list
	Aggregate Mode = "aggregate"
)

// Fault is one thing wrong with a plan. Code is stable, such as id.duplicate;
// Detail is for the model.
type Fault struct{ Code, Detail string }

// Codes of faults.
const (
	codeNotJSON      = "not_json"
	codeNotObject    = "not_object"
	codeTooLarge     = "too_large"
	codeDuplicateKey = "duplicate_key"
	codeType         = "type"          // a field of the wrong type
	codeField        = "field.unknown" // a field that does not exist
	codeEmpty        = "empty"
	codeTooMany      = "steps.too_many"
	codeIDMissing    = "id.missing"
	codeIDPattern    = "id.pattern"
	codeIDDuplicate  = "id.duplicate"
	codeIDInput      = "id.input" // an input has that name
	codeBlank        = "instructions.blank"
	codeUnknownDep   = "depends_on.unknown"
	codeCycle        = "depends_on.cycle"
	codeMode         = "mode.invalid"
	codeTools        = "tools.unknown"
	codeSchema       = "schema.invalid"
	codeTemplate     = "template.invalid"
	codeItemMissing  = "item.missing"    // a template's field that no item has
	codeItemOnly     = "item.unexpected" // a per-item field without mode process
	codeList         = "process.list"    // not exactly one list to work on
)

// Limits of a plan, in runes and in entries.
const (
	maxInstructions = 8000
	maxTitle        = 200
	maxFaults       = 40
	maxDetail       = 300
)

// Known is what a plan can refer to.
type Known struct {
	// Tools are the names of the available tools, in prompt order.
	Tools  []string
	Inputs []strategy.Input
	// MaxSteps bounds the steps of a plan; 0 means no bound.
	MaxSteps int
}

// Read reads the arguments of create_task: one strict JSON object of at most 64
// KiB, 8192 values and 64 levels. It returns every fault it finds, at most 40;
// the plan is valid when there are no faults.
func Read(args string, known Known) (Plan, []Fault) {
	r := reader{known: known}
	root, shape, ok := tool.ParseJSON(args)
	switch {
	case !ok:
		r.fault(codeNotJSON, "the arguments are not one JSON object (YAML, comments and trailing commas are not accepted)")
	case root.Kind != '{':
		r.fault(codeNotObject, "the arguments are not a JSON object")
	case shape.TooLarge() || shape.TooDeep():
		r.fault(codeTooLarge, "the arguments are larger than 64 KiB, 8192 values or 64 levels")
	default:
		for _, d := range root.Duplicates(maxFaults) {
			r.fault(codeDuplicateKey, "%s is used twice", strings.TrimPrefix(d.Path, "."))
		}
		r.plan(root)
		r.check()
	}
	if len(r.faults) > 0 {
		return Plan{}, r.faults
	}
	return r.out, nil
}

// reader collects a plan and its faults.
type reader struct {
	known  Known
	out    Plan
	faults []Fault
}

func (r *reader) fault(code, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, Fault{code, clip.Runes(fmt.Sprintf(format, args...), maxDetail)})
	}
}

// Step returns the step of that id.
func (p Plan) Step(id string) (Step, bool) {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.ID == id })
	if i < 0 {
		return Step{}, false
	}
	return p.Steps[i], true
}
