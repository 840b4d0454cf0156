package load

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
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// The fields of the objects of a suite, in the order people write them.
var (
	suiteFields    = []string{"name", "title", "description", "candidates", "matrix", "judges", "tools", "defaults", "worlds", "tasks", "injections"}
	toolFields     = []string{"name", "description", "schema", "repeatable", "uncacheable", "hint", "run", "result", "write", "approve", "http", "let", "rules", "mcp"}
	defaultsFields = []string{"world", "tools", "tier", "constraints", "budgets"}
	budgetFields   = []string{"max_steps", "max_tool_calls", "max_seconds", "max_tokens_total", "max_cost_usd"}
	taskFileFields = []string{"tags", "tasks"}
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
func (l *loader) suite() *goldens.Suite {
	s := &goldens.Suite{}
	root, ok := l.open(SuiteFile)
	if !ok {
		return s
	}
	o := root.Object(suiteFields)
	if p, ok := o.Need("name"); ok {
		s.Name = p.Filled()
		p.CheckName(yamlfile.LowerName, s.Name)
	}
	yamlfile.Read(o, "title", &s.Title, yamlfile.Place.Text)
	yamlfile.Read(o, "description", &s.Description, yamlfile.Place.Text)
	yamlfile.Read(o, "candidates", &s.Candidates, candidates)
	yamlfile.Read(o, "matrix", &s.Candidates, func(p yamlfile.Place) []goldens.Candidate {
		return append(s.Candidates, readMatrix(p, s.Candidates)...)
	})
	for i := range s.Candidates {
		s.Candidates[i].Beside(l.label)
	}
	if p, ok := o.Get("judges"); ok {
		s.Judges = l.readJudges(p)
		l.warnOfOwnModels(s, p)
	}
	l.tools = newOffer()
	l.readLock()
	l.findKinds(o)
	if p, ok := o.Get("tools"); ok {
		l.readTools(s, p)
	}
	s.Tools = l.tools.specs
	l.readWorlds(o)
	l.readDefaults(o)
	l.readTasks(s, o)
	yamlfile.Read(o, "injections", &l.injections, l.readInjections)
	return s
}

// readTools reads the tools a suite offers.
func (l *loader) readTools(s *goldens.Suite, list yamlfile.Place) {
	for _, item := range list.Items() {
		o := item.Object(toolFields)
		if p, ok := o.Get("mcp"); ok {
			l.readServer(s, item, p)
			continue
		}
		var spec tool.Spec
		if p, ok := o.Need("name"); ok {
			spec.Name = p.Filled()
			p.CheckName(yamlfile.ToolName, spec.Name)
			if spec.Name != "" && !l.define(spec.Name, p) {
				continue
			}
		}
		if !l.inherit(o, &spec) {
			l.readInterface(o, &spec)
		}
		yamlfile.Read(o, "hint", &spec.Hint, func(p yamlfile.Place) string { return p.Short(maxHint) })
		yamlfile.Read(o, "repeatable", &spec.Repeatable, yamlfile.Place.Flag)
		yamlfile.Read(o, "uncacheable", &spec.Uncacheable, yamlfile.Place.Flag)
		if spec.Name != "" {
			l.tools.specs = append(l.tools.specs, spec)
			l.tools.places[spec.Name] = item // the place of all of it
			readUse(s, o, spec)
			l.readRules(o, spec)
		}
	}
}

// readRules reads what a tool does in the suite's declared worlds.
func (l *loader) readRules(o yamlfile.Object, spec tool.Spec) {
	if p, ok := o.Get("http"); ok && o.Has("rules") {
		p.Failf("a tool is run over HTTP or by rules, not both; remove one of them")
	}
	if o.Has("rules") || o.Has("let") {
		l.tools.rules.Read(spec, o)
	}
}

// maxHint bounds the hint of a tool, in characters: every prompt of the contract shows it.
const maxHint = 300

// readInterface reads the part of a tool that a model sees.
func (l *loader) readInterface(o yamlfile.Object, spec *tool.Spec) {
	if p, ok := o.Need("description"); ok {
		spec.Description = p.Filled()
	}
	if p, ok := o.Need("schema"); ok {
		before := len(l.found.List)
		spec.Schema = p.JSON()
		if len(l.found.List) == before {
			checkSchema(p, spec.Schema)
		}
	}
}

// inherit fills in a tool that is listed by its name alone, from the kinds of the suite's
// worlds. It reports whether one of them has it.
func (l *loader) inherit(o yamlfile.Object, spec *tool.Spec) bool {
	if o.Has("description") || o.Has("schema") || o.Has("http") {
		return false
	}
	for _, kind := range l.used {
		i := slices.IndexFunc(kind.Tools(), func(s tool.Spec) bool { return s.Name == spec.Name })
		if i >= 0 {
			*spec = kind.Tools()[i]
			return true
		}
	}
	return false
}

// findKinds lists the kinds that the suite's worlds name, in file order.
func (l *loader) findKinds(suite yamlfile.Object) {
	p, ok := suite.Get("worlds")
	if !ok || !p.IsMapping() {
		return
	}
	for _, e := range p.Entries() {
		if name, _, ok := e.Value.FieldAt("kind").Scalar(); ok && l.kinds[name] != nil {
			l.used = append(l.used, l.kinds[name])
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

func (l *loader) readDefaults(suite yamlfile.Object) {
	l.defaults = taskDefaults{tier: "core", tools: l.tools.names()}
	p, ok := suite.Get("defaults")
	if !ok {
		return
	}
	o := p.Object(defaultsFields)
	if p, ok := o.Get("world"); ok {
		if name := p.Choice(l.worldNames...); name != "" {
			l.defaults.world = name
		}
	}
	yamlfile.Read(o, "tools", &l.defaults.tools, l.toolNames)
	yamlfile.Read(o, "tier", &l.defaults.tier, yamlfile.Place.Filled)
	yamlfile.Read(o, "constraints", &l.defaults.constraints, yamlfile.Place.Text)
	yamlfile.Read(o, "budgets", &l.defaults.budgets, func(p yamlfile.Place) guard.Budgets { return budgets(p, guard.Budgets{}) })
}

// toolNames reads a list of names of the suite's tools.
func (l *loader) toolNames(p yamlfile.Place) []string {
	names := p.Words()
	for i, item := range p.Items() {
		if names[i] == "" {
			continue
		}
		if _, ok := l.tools.places[names[i]]; !ok {
			item.Failf("the suite has no tool %q%s; it has: %s", names[i], yamlfile.Suggest(names[i], l.tools.names()), yamlfile.Listed(l.tools.names()))
		}
	}
	return names
}

// Bounds of the caps of one episode: far beyond any that is meant.
const (
	maxTokensTotal = 1_000_000_000
	maxCostUSD     = 10_000
	NanoUSD        = 1_000_000_000 // in a dollar
)

// budgets reads caps; one that is absent keeps its value in b.
func budgets(p yamlfile.Place, b guard.Budgets) guard.Budgets {
	o := p.Object(budgetFields)
	yamlfile.Read(o, "max_steps", &b.MaxSteps, func(p yamlfile.Place) int { return int(p.Integer(0, 1_000)) })
	yamlfile.Read(o, "max_tool_calls", &b.MaxToolCalls, func(p yamlfile.Place) int { return int(p.Integer(0, 10_000)) })
	yamlfile.Read(o, "max_seconds", &b.MaxTime, func(p yamlfile.Place) time.Duration {
		return time.Duration(p.Integer(0, int64(yamlfile.MaxDuration/time.Second))) * time.Second
	})
	yamlfile.Read(o, "max_tokens_total", &b.MaxTokens, func(p yamlfile.Place) int64 { return p.Integer(0, maxTokensTotal) })
	if p, ok := o.Get("max_cost_usd"); ok {
		usd := p.Number(maxCostUSD)
		if b.MaxCostNanoUSD = int64(math.Round(usd * NanoUSD)); b.MaxCostNanoUSD == 0 && usd > 0 {
			p.Failf("must be at least %g, a nano-dollar, or 0 for no cap, but is %v", 1.0/NanoUSD, usd)
		}
	}
	return b
}

// readTasks reads the tasks of suite.yaml and of the files it names.
func (l *loader) readTasks(s *goldens.Suite, suite yamlfile.Object) {
	l.taken = map[string]string{}
	list, ok := suite.Need("tasks")
	if !ok {
		return
	}
	items := []yamlfile.Place{list}
	if !list.IsMapping() { // one dataset
		items = list.Items()
	}
	if len(items) == 0 && list.Kind() == "a list" {
		list.Failf("must name at least one task file, such as tasks/*.yaml, or hold a task")
	}
	read := map[string]bool{}
	for _, item := range items {
		if fromDataset(item) {
			l.readDataset(s, item)
		} else if pattern, tag, ok := item.Scalar(); !ok || tag != "!!str" {
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
			item.Failf("a suite may have at most %d tasks", maxTasks)
			return
		}
	}
}

func (l *loader) readTaskFile(s *goldens.Suite, name string) {
	root, ok := l.open(name)
	if !ok {
		return
	}
	o := root.Object(taskFileFields)
	var tags []string
	yamlfile.Read(o, "tags", &tags, yamlfile.Place.Words)
	list, ok := o.Need("tasks")
	if !ok {
		return
	}
	items := list.Items()
	if len(items) == 0 && list.Kind() == "a list" {
		list.Failf("must contain at least one task")
	}
	if len(items) > maxTasks {
		list.Failf("a suite may have at most %d tasks", maxTasks)
		return
	}
	for _, item := range items {
		l.addTask(s, item, tags)
	}
}

// addTask reads one task and keeps it under an id no other task has. Ids that
// differ only in case would share a folder on some machines.
func (l *loader) addTask(s *goldens.Suite, item yamlfile.Place, tags []string) {
	t, places := l.task(item, tags)
	l.findJudges(s, &t, places.expect)
	t.File, t.Line = item.Src.File, item.Node.Line
	if t.ID != "" {
		here := fmt.Sprintf("%s:%d", item.Src.File, item.Node.Line)
		if first, dup := l.taken[strings.ToLower(t.ID)]; dup {
			places.task.Failf("task id %s is taken by the task at %s", t.ID, first)
		} else {
			l.taken[strings.ToLower(t.ID)] = here
		}
	}
	s.Tasks = append(s.Tasks, t)
	l.where = append(l.where, places)
}
