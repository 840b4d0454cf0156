package playbook

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// itemName is the name of the current item of a batch, errorName that of the code of a failed
// call in its on_error.
const (
	itemName  = "item"
	errorName = "error"
)

// The fields of each kind of step, in the usual order; the first identifies the kind.
var stepFields = [...][]string{
	aCall:    {"call", "args", "as", "until", "retry", "on_error"},
	anEach:   {"each", "as", "do"},
	anIf:     {"if", "then", "else"},
	aLet:     {"let"},
	anAsk:    {"ask", "as"},
	anAnswer: {"answer", "value"},
	aGiveUp:  {"give_up"},

	aPlan:     {"plan", "on_error", "on_failed", "on_feedback"},
	aDelegate: {"delegate", "do", "on_error", "on_failed"},
	aBuild:    {"build", "workflowId", "as", "do", "on_error", "on_failed", "on_message"},
	aReply:    {"reply", "as"},
}

// The default repetitions of a call after a transient failure, the most repetitions of a failed
// call, and the most calls that are made until a condition is true.
const (
	defaultRetry = 2
	maxRetry     = 5
	maxPolls     = 5
)

// solution is the reading of one entry.
type solution struct {
	tasks []Task
	// names are those that expressions may use at the current step.
	names map[string]bool
	count int
	// inEach means that the steps are inside an each.
	inEach bool
	// handed means that the steps are those of a sub-agent, orchestrates that only an orchestrator
	// follows them.
	handed, orchestrates bool
}

// block reads a list of steps. Later steps may use the names that it binds.
func (s *solution) block(p yamlfile.Place, depth int) []step {
	if depth > maxDepth {
		p.Failf("steps are nested deeper than %d levels", maxDepth)
		return nil
	}
	items := p.Items()
	if len(items) == 0 && p.Value().Kind != 0 {
		p.Failf("needs at least one step")
	}
	var out []step
	for i, item := range items {
		if s.count++; s.count > maxSteps {
			p.Failf("has more than %d steps", maxSteps)
			return out
		}
		if i > 0 && ends(out) {
			item.Failf("is never reached: the step before always ends the solution")
			return out
		}
		if st, ok := s.step(item, depth); ok {
			out = append(out, st)
		}
	}
	return out
}

// step reads one step.
func (s *solution) step(p yamlfile.Place, depth int) (st step, ok bool) {
	if !p.IsMapping() {
		p.Wants("a step, such as call: TOOL")
		return st, false
	}
	var firsts, found []string
	for _, fields := range stepFields {
		firsts = append(firsts, fields[0])
	}
	for _, e := range p.Entries() {
		if slices.Contains(firsts, e.Key) {
			found = append(found, e.Key)
		}
	}
	switch {
	case len(found) == 0:
		p.Failf("does not say what to do; a step has one of: %s", yamlfile.Listed(firsts))
		return st, false
	case len(found) > 1:
		p.Failf("has more than one action: %s; make each a separate step", yamlfile.Listed(found))
		return st, false
	}
	kind := stepKind(slices.Index(firsts, found[0]))
	st.kind, st.line, st.reads = kind, p.At(), expression.Need{}
	o := p.Object(stepFields[kind])
	first := o.FieldAt(stepFields[kind][0])
	switch kind {
	case aCall:
		s.call(&st, o, first, depth)
	case anEach:
		s.each(&st, o, first, depth)
	case anIf:
		s.choice(&st, o, first, depth)
	case aLet:
		s.let(&st, first)
	case aPlan, aDelegate, aBuild:
		s.handOff(&st, o, first, depth)
	default:
		s.say(&st, o, first)
	}
	st.binds = unique(st.binds)
	return st, true
}

func (s *solution) call(st *step, o yamlfile.Object, first yamlfile.Place, depth int) {
	st.tool = first.Filled()
	for _, t := range s.tasks {
		if st.tool != "" && !t.Tools.Has(st.tool) && (!s.orchestrates || !slices.Contains(taskTools, st.tool)) {
			names := t.offer()
			first.Failf("task %s offers no tool %q%s; it offers: %s", t.ID, st.tool, yamlfile.Suggest(st.tool, names), yamlfile.Listed(names))
			break
		}
	}
	if p, ok := o.Get("args"); ok {
		for _, e := range p.Entries() {
			st.args = append(st.args, binding{e.Key, s.use(st, expression.ReadValue(e.Value, s.known()))})
		}
	}
	s.checkArgs(st, o)
	if p, ok := o.Get("retry"); ok {
		n := int(p.Integer(0, maxRetry))
		st.retry = &n
	}
	before := maps.Clone(s.names)
	st.as = s.bind(st, o)
	if p, ok := o.Get("until"); ok {
		st.until = s.use(st, expression.Read(p, s.known()))
	}
	if p, ok := o.Get("on_error"); ok {
		after := s.names
		s.names = before
		s.names[errorName] = true
		block := []step{}
		if p.Value().Kind != yaml.SequenceNode || len(p.Items()) > 0 { // an empty one continues
			block = s.block(p, depth+1)
		}
		st.onError = &block
		s.names = after
		s.leave(st, block)
	}
}

// checkArgs checks arguments against the tool's schema. Of computed arguments it checks only the
// names.
func (s *solution) checkArgs(st *step, o yamlfile.Object) {
	tools := s.tasks[0].Tools.Only([]string{st.tool})
	if !tools.Has(st.tool) {
		return
	}
	literal, computed := map[string]any{}, []string{}
	for _, a := range st.args {
		v, ok := a.value.Constant()
		ok = ok && a.value != nothing
		if !ok {
			computed = append(computed, a.name)
		}
		if ok || !slices.Contains(tools.Fields(st.tool), a.name) {
			literal[a.name] = v
		}
	}
	text, err := expression.JSON(literal, maxBytes)
	faults := tools.Validate(tool.Call{Name: st.tool, Args: text})
	faults = slices.DeleteFunc(faults, func(f string) bool {
		field, code, _ := strings.Cut(strings.TrimPrefix(f, "args."), ":")
		return code == "required" && slices.Contains(computed, field) || len(computed) > 0 && strings.HasPrefix(f, "args:")
	})
	if len(faults) > 0 || err != nil {
		o.FieldAt("args").Failf("do not fit the schema of %s: %s", st.tool, yamlfile.Listed(faults))
	}
}

func (s *solution) each(st *step, o yamlfile.Object, first yamlfile.Place, depth int) {
	st.list = cmp.Or(s.computed(first), nothing)
	if v, ok := st.list.Constant(); ok && !isList(v) && st.list != nothing {
		first.Wants("a list, or an expression that gives one")
	}
	outer := maps.Clone(s.names)
	if _, ok := o.Need("as"); ok {
		st.as = s.bind(st, o)
		st.binds = nil // only its block may use the name
	}
	was := s.inEach
	s.inEach = true
	if p, ok := o.Need("do"); ok {
		st.block = s.block(p, depth+1)
	}
	s.inEach, s.names = was, outer
	s.leave(st, st.block)
	st.inner, st.item = st.reads, expression.Need{}
	if item, ok := st.inner[st.as]; ok {
		st.item = item
		delete(st.inner, st.as)
	}
	st.reads = st.inner.With(st.list.Needs(expression.Need{expression.Elements: st.item}))
	if text, _, ok := first.Scalar(); ok && slices.Contains(s.tasks[0].Inputs, text) {
		st.listed = text
	}
}

func (s *solution) choice(st *step, o yamlfile.Object, first yamlfile.Place, depth int) {
	st.cond = s.use(st, expression.Read(first, s.known()))
	outer := maps.Clone(s.names)
	if p, ok := o.Need("then"); ok {
		st.block = s.block(p, depth+1)
	}
	s.names = maps.Clone(outer)
	if p, ok := o.Get("else"); ok {
		st.other = s.block(p, depth+1)
	}
	s.names = outer
	s.leave(st, st.block)
	s.leave(st, st.other)
}

// leave adds the names that a block binds to those of its step.
func (s *solution) leave(st *step, block []step) {
	for _, inner := range block {
		st.reads = st.reads.With(inner.reads)
		for _, name := range inner.binds {
			st.binds = append(st.binds, name)
			s.names[name] = true
		}
	}
}

func (s *solution) let(st *step, p yamlfile.Place) {
	for _, e := range p.Entries() {
		v := s.use(st, s.computed(e.Value))
		s.name(e.KeyAt, e.Key)
		st.lets = append(st.lets, binding{e.Key, v})
		st.binds = append(st.binds, e.Key)
	}
}

// say reads a question, an answer, a refusal or what is said in between.
func (s *solution) say(st *step, o yamlfile.Object, first yamlfile.Place) {
	if s.handed && st.kind != aGiveUp {
		first.Failf("is inside work that is handed over; put it after that")
	} else if s.inEach && st.kind != aGiveUp {
		first.Failf("is inside an each, whose iterations run in parallel; put it after the each")
	}
	if first.Filled() != "" {
		st.text = s.use(st, expression.ReadValue(first, s.known()))
	}
	if p, ok := o.Get("value"); ok {
		st.value = s.use(st, expression.ReadValue(p, s.known()))
	}
	if st.kind == anAsk || st.kind == aReply {
		st.as = s.bind(st, o)
	}
	for _, t := range s.tasks {
		if st.kind == anAnswer && t.Schema && st.value == nil {
			o.FieldAt("value").Failf("is missing: the answer of task %s must fit its answer_schema", t.ID)
			break
		}
	}
}

// bind reads the name that a step binds; empty if it binds none.
func (s *solution) bind(st *step, o yamlfile.Object) string {
	p, ok := o.Get("as")
	if !ok {
		return ""
	}
	name := p.Filled()
	if name != "" {
		s.name(p, name)
		st.binds = append(st.binds, name)
	}
	return name
}

var namePattern = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// name allows later expressions to use a name, or reports why the name is invalid.
func (s *solution) name(p yamlfile.Place, name string) {
	switch probe, err := expression.Compile(name, []string{name}); {
	case !namePattern.MatchString(name):
		p.Failf("%q is not a name: use letters, digits and underscore, with a letter first", name)
	case err != nil || !slices.Equal(probe.Names(), []string{name}) || name == errorName || name == itemName:
		p.Failf("%q is a word of the language; use another name", name)
	case s.names[name]:
		p.Failf("%q is the name of something else already; use another name", name)
	}
	s.names[name] = true
}

// nothing replaces a value that could not be read. Its problem is already reported.
var nothing = &expression.Program{}

// use adds the reads of a program to those of its step.
func (s *solution) use(st *step, p *expression.Program) *expression.Program {
	if p == nil {
		return nothing
	}
	st.reads = st.reads.With(p.Needs(nil))
	return p
}

// computed reads an expression, or a value that is not a string.
func (s *solution) computed(p yamlfile.Place) *expression.Program {
	if _, tag, ok := p.Scalar(); ok && tag == "!!str" {
		return expression.Read(p, s.known())
	}
	return expression.ReadValue(p, s.known())
}

// known returns the sorted names that expressions may use.
func (s *solution) known() []string { return slices.Sorted(maps.Keys(s.names)) }

func isList(v any) bool { _, ok := v.([]any); return ok }

// unique sorts a list and removes duplicates.
func unique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
