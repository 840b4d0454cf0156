package declared

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Fields are the fields of a tool that Read reads.
var Fields = []string{"let", "rules"}

var ruleFields = []string{"when", "set", "append", "delete", "error", "returns", "harm"}

// given are the names that every expression may use, besides those of let.
var given = []string{nameState: "state", nameArgs: "args", nameNow: "now", nameToday: "today", nameSeed: "seed"}

// The indexes of given.
const (
	nameState = iota
	nameArgs
	nameNow
	nameToday
	nameSeed
)

// errorCode is what a refusal's code looks like.
var errorCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// Rules are the rules of a suite's tools. It is safe for concurrent use once it is read.
type Rules struct {
	tools  map[string]*declaredTool
	specs  []tool.Spec
	reads  []reading
	writes bool // whether any rule does
	// digest is of all that was read.
	digest hash.Hash
	// roots are the keys that any state of the suite has at its top.
	roots map[string]bool
}

// New returns empty rules.
func New() *Rules {
	return &Rules{tools: map[string]*declaredTool{}, roots: map[string]bool{}, digest: sha256.New()}
}

// Digest returns the SHA-256 hex of the rules: other rules are another world.
func (r *Rules) Digest() string { return hex.EncodeToString(r.digest.Sum(nil)) }

// Writes reports whether a call of the tool may change the state.
func (r *Rules) Writes(name string) bool {
	t := r.tools[name]
	return t != nil && slices.ContainsFunc(t.rules, func(r rule) bool { return len(r.writes) > 0 })
}

// declaredTool is a tool with its rules.
type declaredTool struct {
	names []string // given, and those of lets
	lets  []let
	rules []rule
	// usesNow and usesToday report what its expressions read of the clock.
	usesNow, usesToday bool
}

// let is a name of the suite's for an expression.
type let struct {
	program
	name string
}

// program is an expression and the names of let that it needs, in order.
type program struct {
	*expression.Program
	lets []int
}

// rule is one rule of a tool.
type rule struct {
	line int
	when program
	// code and message are those of a refusal.
	code          string
	message       program
	writes        []write
	returns, harm program
}

// reading is a key at the top of the state that an expression or a path names; fail records
// a problem there.
type reading struct {
	name string
	fail func(format string, args ...any)
}

// reader reads the rules of one tool.
type reader struct {
	*Rules
	tool *declaredTool
	spec tool.Spec
	// names are those that expressions may use here, fields the arguments that the schema
	// names; nil if it names none.
	names, fields []string
}

// Read reads and compiles the `let` and `rules` of the tool at o. It records every problem
// at its line and column.
func (r *Rules) Read(spec tool.Spec, o yamlfile.Object) {
	rd := &reader{Rules: r, tool: &declaredTool{}, spec: spec, names: slices.Clone(given)}
	if tools, err := tool.NewSet([]tool.Spec{spec}); err == nil {
		rd.fields = tools.Fields(spec.Name)
	}
	if p, ok := o.Get("let"); ok {
		rd.lets(p)
	}
	rd.tool.names = rd.names
	if p, ok := o.Need("rules"); ok {
		rd.rules(p)
	}
	r.tools[spec.Name], r.specs = rd.tool, append(r.specs, spec)
	r.writes = r.writes || r.Writes(spec.Name)
	for _, field := range Fields {
		if p, ok := o.Get(field); ok {
			_, _ = fmt.Fprintf(r.digest, "%s %s %s\n", spec.Name, field, p.JSON())
		}
	}
}

func (rd *reader) lets(p yamlfile.Place) {
	entries := p.Entries()
	if len(entries) > maxLets {
		p.Failf("must define at most %d names, but defines %d", maxLets, len(entries))
		return
	}
	for _, e := range entries {
		switch {
		case !yamlfile.EnvName.MatchString(e.Key):
			e.KeyAt.Failf("a name of let may contain only letters, digits and underscores, and must not start with a digit")
		case slices.Contains(rd.names, e.Key):
			e.KeyAt.Failf("%s is a name that every rule has; choose another", e.Key)
		}
		p := rd.compiled(expression.Read(e.Value, rd.names))
		rd.tool.lets = append(rd.tool.lets, let{program: p, name: e.Key})
		rd.names = append(rd.names, e.Key)
	}
}

func (rd *reader) rules(p yamlfile.Place) {
	items := p.Items()
	switch {
	case len(items) > maxRules:
		p.Failf("a tool has at most %d rules, but here are %d", maxRules, len(items))
		return
	case len(items) == 0 && p.Kind() == "a list":
		p.Failf("must contain at least one rule")
	}
	conditions := map[string]int{}
	always := 0
	for i, item := range items {
		o := item.Object(ruleFields)
		if always > 0 {
			item.Failf("never matches: rule %d, on line %d, has no when that could fail", always, items[always-1].At())
		}
		if rd.rule(o, conditions, i+1) && always == 0 {
			always = i + 1
		}
	}
	if len(items) > 0 && always == 0 {
		items[len(items)-1].Failf("the last rule must have no when, so that every call has a result; end with a rule such as {error: {code: E_NOT_FOUND, message: …}}")
	}
}

// rule reads one rule and reports whether its condition is always true. conditions has the rules by
// their when.
func (rd *reader) rule(o yamlfile.Object, conditions map[string]int, number int) (always bool) {
	r := rule{line: o.At()}
	always = !o.Has("when")
	if p, ok := o.Get("when"); ok {
		if p.Kind() == "a boolean" {
			p.Failf("is always %t; remove the when, or the rule", p.Flag())
			return p.Flag()
		}
		text, _, _ := p.Scalar()
		if first, twice := conditions[text]; twice {
			p.Failf("never matches: rule %d has this condition already", first)
		}
		conditions[text] = number
		if r.when = rd.compiled(expression.Read(p, rd.names)); r.when.Program != nil && len(r.when.Names()) == 0 {
			holds, err := r.when.Holds(nil)
			if err != nil {
				p.Failf("%v", err)
			} else {
				p.Failf("is always %t; remove the when, or the rule", holds)
			}
		}
	}
	rd.outcome(o, &r)
	rd.tool.rules = append(rd.tool.rules, r)
	return always
}

// outcome reads what a rule does.
func (rd *reader) outcome(o yamlfile.Object, r *rule) {
	if p, ok := o.Get("error"); ok {
		for _, other := range []string{"set", "append", "delete", "returns", "harm"} {
			if o.Has(other) {
				o.FieldAt(other).Failf("cannot be combined with error: a call that fails changes and returns nothing")
			}
		}
		rd.refusal(p, r)
		return
	}
	for _, op := range []operation{set, appendTo, remove} {
		if p, ok := o.Get(string(op)); ok {
			rd.writes(p, op, r)
		}
	}
	if len(r.writes) > maxWrites {
		o.Failf("a rule has at most %d writes, but this has %d", maxWrites, len(r.writes))
	}
	if p, ok := o.Get("harm"); ok {
		r.harm = rd.value(p)
		if len(r.writes) == 0 {
			p.Failf("the rule changes nothing, so it does no harm; add set, append or delete")
		}
	}
	if p, ok := o.Get("returns"); ok {
		r.returns = rd.value(p)
	} else if len(r.writes) == 0 && o.IsMapping() {
		o.Failf("does nothing; add returns, error, set, append or delete")
	}
}

func (rd *reader) refusal(p yamlfile.Place, r *rule) {
	o := p.Object([]string{"code", "message"})
	if p, ok := o.Need("code"); ok {
		if r.code = p.Filled(); r.code != "" && !errorCode.MatchString(r.code) {
			p.Failf("%q must be capital letters, digits and underscores, such as E_NOT_FOUND", r.code)
		}
	}
	if p, ok := o.Need("message"); ok {
		if p.Filled() != "" {
			r.message = rd.value(p)
		}
	}
}

// writes reads the writes of one operation: values by path, or paths to delete.
func (rd *reader) writes(p yamlfile.Place, op operation, r *rule) {
	if op == remove {
		for _, item := range p.Items() {
			r.writes = append(r.writes, rd.write(op, item, item.Filled()))
		}
		return
	}
	for _, e := range p.Entries() {
		w := rd.write(op, e.KeyAt, e.Key)
		w.value = rd.value(e.Value)
		r.writes = append(r.writes, w)
	}
}

// write compiles the path of a write, in which an expression is a key or a part of one.
func (rd *reader) write(op operation, p yamlfile.Place, text string) write {
	w := write{operation: op}
	if text == "" {
		return w // reported as it was read
	}
	keys := expression.ReadPath(p, text, rd.names, func(text string) ([]string, error) {
		keys, err := state.ParsePath(text)
		if err == nil && len(keys) == 0 {
			err = errors.New("must lead to a part of the state; name its keys")
		}
		return keys, err
	})
	w.path = make(state.Path, len(keys))
	for i, p := range keys {
		if text, constant := p.Constant(); constant {
			w.path[i] = text.(string)
		} else {
			w.keys = append(w.keys, key{rd.compiled(p), i})
		}
	}
	if len(keys) > 0 && (w.keys == nil || w.keys[0].index > 0) {
		rd.reads = append(rd.reads, reading{name: w.path[0], fail: p.Failf})
	}
	return w
}

func (rd *reader) value(p yamlfile.Place) program {
	return rd.compiled(expression.ReadValue(p, rd.names))
}

// compiled adds to a program the names of let that it needs, and checks what it reads of
// the arguments. p may be nil.
func (rd *reader) compiled(p *expression.Program) program {
	out := program{Program: p}
	if p == nil {
		return out
	}
	for i, let := range rd.tool.lets {
		if slices.Contains(p.Names(), let.name) {
			for _, needed := range append(slices.Clone(let.lets), i) {
				if !slices.Contains(out.lets, needed) {
					out.lets = append(out.lets, needed)
				}
			}
		}
	}
	rd.tool.usesNow = rd.tool.usesNow || slices.Contains(p.Names(), "now")
	rd.tool.usesToday = rd.tool.usesToday || slices.Contains(p.Names(), "today")
	for _, m := range p.Members() {
		switch {
		case m.Of == "state":
			rd.reads = append(rd.reads, reading{name: m.Name, fail: m.Failf})
		case m.Of == "args" && rd.fields != nil && !slices.Contains(rd.fields, m.Name):
			m.Failf("the schema of %s has no property %s%s; it has: %s", rd.spec.Name, m.Name, yamlfile.Suggest(m.Name, rd.fields), strings.Join(rd.fields, ", "))
		}
	}
	return out
}

// CheckPaths records every path and expression that names a part of the state which no
// state of the suite has at its top. It is called once all of them have been bound.
func (r *Rules) CheckPaths() {
	var known []string
	for key := range r.roots {
		known = append(known, key)
	}
	slices.Sort(known)
	for _, read := range r.reads {
		if !r.roots[read.name] {
			read.fail("no state of the suite has %s%s; they have: %s", read.name, yamlfile.Suggest(read.name, known), yamlfile.Listed(known))
		}
	}
}
