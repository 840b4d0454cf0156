package goldens

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
)

// The fields of the objects of a suite, in the order people write them.
var (
	suiteFields     = []string{"name", "title", "description", "candidates", "matrix", "tools", "defaults", "worlds", "tasks"}
	toolFields      = []string{"name", "description", "schema", "repeatable", "uncacheable", "write", "approve", "http"}
	defaultsFields  = []string{"world", "tools", "tier", "constraints", "budgets"}
	budgetFields    = []string{"max_steps", "max_tool_calls", "max_seconds", "max_tokens_total", "max_cost_usd"}
	taskFileFields  = []string{"tags", "tasks"}
	candidateFields = []string{"name", "agent", "provider", "model", "mode", "profile", "rescue", "rescue_on_contradiction", "compress", "system", "fallback", "max_iterations", "final_retries", "no_images", "memory", "batch", "plan", "base_url", "key_env", "region", "stream", "headers", "query", "body", "max_tokens", "temperature"}
)

// taskDefaults are what a task has unless it says otherwise.
type taskDefaults struct {
	world       string
	tools       []string
	tier        string
	constraints string
	budgets     guard.Budgets
}

// suite reads suite.yaml and the files it names.
func (l *loader) suite() *Suite {
	s := &Suite{}
	root, ok := l.open(suiteFile)
	if !ok {
		return s
	}
	o := root.object(suiteFields)
	if p, ok := o.need("name"); ok {
		s.Name = p.filled()
		p.checkName(lowerName, s.Name)
	}
	if p, ok := o.get("title"); ok {
		s.Title = p.text()
	}
	if p, ok := o.get("description"); ok {
		s.Description = p.text()
	}
	if p, ok := o.get("candidates"); ok {
		s.Candidates = candidates(p)
	}
	if p, ok := o.get("matrix"); ok {
		s.Candidates = append(s.Candidates, readMatrix(p, s.Candidates)...)
	}
	l.tools = &offer{places: map[string]place{}}
	if p, ok := o.get("tools"); ok {
		l.readTools(s, p)
	}
	s.Tools = l.tools.specs
	l.readWorlds(o)
	l.readDefaults(o)
	l.readTasks(s, o)
	return s
}

// readTools reads the tools a suite offers.
func (l *loader) readTools(s *Suite, list place) {
	for _, item := range list.items() {
		o := item.object(toolFields)
		var spec tool.Spec
		if p, ok := o.need("name"); ok {
			spec.Name = p.filled()
			p.checkName(toolName, spec.Name)
			if first, dup := l.tools.places[spec.Name]; dup {
				p.failf("tool %s is defined already, on line %d", spec.Name, first.at())
				continue
			}
		}
		if p, ok := o.need("description"); ok {
			spec.Description = p.filled()
		}
		if p, ok := o.need("schema"); ok {
			before := len(l.found.list)
			spec.Schema = p.json()
			if len(l.found.list) == before {
				p.checkSchema(spec.Schema)
			}
		}
		if p, ok := o.get("repeatable"); ok {
			spec.Repeatable = p.flag()
		}
		if p, ok := o.get("uncacheable"); ok {
			spec.Uncacheable = p.flag()
		}
		if spec.Name != "" {
			l.tools.specs = append(l.tools.specs, spec)
			l.tools.places[spec.Name] = item
			readUse(s, o, spec)
		}
	}
}

// schemaFault returns what is wrong with a schema, in one line and always the
// same: the library's own order of faults is random.
func schemaFault(err error) string {
	var invalid *jsonschema.SchemaValidationError
	var fault *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &fault) {
		leaves := leafFaults(fault, nil)
		slices.Sort(leaves)
		return strings.Join(slices.Compact(leaves), "; ")
	}
	_, detail, _ := strings.Cut(err.Error(), "schema: ")
	return strings.Join(strings.Fields(detail), " ")
}

func leafFaults(e *jsonschema.ValidationError, out []string) []string {
	if len(e.Causes) == 0 {
		at := "/" + strings.Join(e.InstanceLocation, "/")
		return append(out, at+": "+e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	}
	for _, c := range e.Causes {
		out = leafFaults(c, out)
	}
	return out
}

func (l *loader) readDefaults(suite object) {
	l.defaults = taskDefaults{tier: "core", tools: l.tools.names()}
	p, ok := suite.get("defaults")
	if !ok {
		return
	}
	o := p.object(defaultsFields)
	if p, ok := o.get("world"); ok {
		if name := p.choice(l.worldNames...); name != "" {
			l.defaults.world = name
		}
	}
	if p, ok := o.get("tools"); ok {
		l.defaults.tools = l.toolNames(p)
	}
	if p, ok := o.get("tier"); ok {
		l.defaults.tier = p.filled()
	}
	if p, ok := o.get("constraints"); ok {
		l.defaults.constraints = p.text()
	}
	if p, ok := o.get("budgets"); ok {
		l.defaults.budgets = budgets(p, guard.Budgets{})
	}
}

// toolNames reads a list of names of the suite's tools.
func (l *loader) toolNames(p place) []string {
	names := p.words()
	for i, item := range p.items() {
		if names[i] == "" {
			continue
		}
		if _, ok := l.tools.places[names[i]]; !ok {
			item.failf("the suite has no tool %q%s; it has: %s", names[i], suggest(names[i], l.tools.names()), listed(l.tools.names()))
		}
	}
	return names
}

// Bounds of the caps of one episode: far beyond any that is meant.
const (
	maxTokensTotal = 1_000_000_000
	maxCostUSD     = 10_000
	nanoUSD        = 1_000_000_000 // in a dollar
)

// budgets reads caps; one that is absent keeps its value in b.
func budgets(p place, b guard.Budgets) guard.Budgets {
	o := p.object(budgetFields)
	if p, ok := o.get("max_steps"); ok {
		b.MaxSteps = int(p.integer(0, 1_000))
	}
	if p, ok := o.get("max_tool_calls"); ok {
		b.MaxToolCalls = int(p.integer(0, 10_000))
	}
	if p, ok := o.get("max_seconds"); ok {
		b.MaxTime = time.Duration(p.integer(0, int64(maxDuration/time.Second))) * time.Second
	}
	if p, ok := o.get("max_tokens_total"); ok {
		b.MaxTokens = p.integer(0, maxTokensTotal)
	}
	if p, ok := o.get("max_cost_usd"); ok {
		usd := p.number(maxCostUSD)
		if b.MaxCostNanoUSD = int64(math.Round(usd * nanoUSD)); b.MaxCostNanoUSD == 0 && usd > 0 {
			p.failf("must be at least %g, a nano-dollar, or 0 for no cap, but is %v", 1.0/nanoUSD, usd)
		}
	}
	return b
}

// readTasks reads the tasks of suite.yaml and of the files it names.
func (l *loader) readTasks(s *Suite, suite object) {
	l.taken = map[string]string{}
	list, ok := suite.need("tasks")
	if !ok {
		return
	}
	items := list.items()
	if len(items) == 0 && list.kind() == "a list" {
		list.failf("must name at least one task file, such as tasks/*.yaml, or hold a task")
	}
	read := map[string]bool{}
	for _, item := range items {
		if pattern, tag, ok := item.scalar(); !ok || tag != "!!str" {
			l.addTask(s, item, nil)
		} else {
			for _, name := range l.taskFiles(item, pattern) {
				if !read[name] {
					read[name] = true
					l.readTaskFile(s, name)
				}
			}
		}
		if len(s.Tasks) > maxTasks {
			item.failf("a suite may have at most %d tasks", maxTasks)
			return
		}
	}
}

func (l *loader) readTaskFile(s *Suite, name string) {
	root, ok := l.open(name)
	if !ok {
		return
	}
	o := root.object(taskFileFields)
	var tags []string
	if p, ok := o.get("tags"); ok {
		tags = p.words()
	}
	list, ok := o.need("tasks")
	if !ok {
		return
	}
	items := list.items()
	if len(items) == 0 && list.kind() == "a list" {
		list.failf("must hold at least one task")
	}
	if len(items) > maxTasks {
		list.failf("a suite may have at most %d tasks", maxTasks)
		return
	}
	for _, item := range items {
		l.addTask(s, item, tags)
	}
}

// addTask reads one task and keeps it under an id no other task has. Ids that
// differ only in case would share a folder on some machines.
func (l *loader) addTask(s *Suite, item place, tags []string) {
	t, places := l.task(item, tags)
	t.File, t.Line = item.src.file, item.node.Line
	if t.ID != "" {
		here := fmt.Sprintf("%s:%d", item.src.file, item.node.Line)
		if first, dup := l.taken[strings.ToLower(t.ID)]; dup {
			places.task.failf("task id %s is taken by the task at %s", t.ID, first)
		} else {
			l.taken[strings.ToLower(t.ID)] = here
		}
	}
	s.Tasks = append(s.Tasks, t)
	l.where = append(l.where, places)
}
