package goldens

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world/judge"
)

// check is a kind of check: a field of an accepted outcome. Loading, drafting,
// describing, proving and scoring all work from the table of them.
type check struct {
	// key is the field's name in a task file.
	key string
	// edit says, above the field of a drafted task, what it pins down.
	edit string
	// schema is the field's JSON Schema, as it is in schema/suite.schema.json.
	schema string
	// value reads, writes and takes apart the field.
	value
	// validate reports what no outcome could be checked against; nil if there is nothing.
	validate func(Expect) error
	// score adds the results of the check; nil where another kind's does, or none is.
	score func(*scorer, *Expect)
	// rank is where the results come: those of a lower rank first.
	rank int
}

// kept is the text of a drafted task on a check copied from another outcome.
const kept = "kept from the task it comes from"

// checks are the kinds of checks, in the order people write them.
var checks = []check{
	{key: "status", edit: "how the episode ended", schema: schemaEnum(expectStatuses, ""),
		value: word{of: func(e *Expect) *string { return &e.Status }, read: choice(expectStatuses), fixed: true}, score: (*scorer).status},
	{key: "stop_reason", edit: "why it was stopped", schema: schemaEnum(stopReasons, ""),
		value: word{of: func(e *Expect) *string { return &e.StopReason }, read: choice(stopReasons), fixed: true}},
	{key: "numbers", edit: "every number of the answer; keep those that matter", schema: schemaRef("numbers", "Numbers that must all be in the answer, compared by value."),
		value: list{of: func(e *Expect) *[]string { return &e.Numbers }, read: numbers, node: yamlfile.Plain}, validate: validNumbers("numbers", func(e Expect) []string { return e.Numbers }), score: (*scorer).numbers},
	{key: "not_numbers", edit: kept, schema: schemaRef("numbers", "Numbers that must not be in the answer, compared by value."),
		value: list{of: func(e *Expect) *[]string { return &e.NotNumbers }, read: numbers, node: yamlfile.Plain}, validate: validNumbers("not_numbers", func(e Expect) []string { return e.NotNumbers }), score: (*scorer).notNumbers},
	{key: "only_numbers", edit: kept, schema: schemaRef("numbers", "The answer must have no other numbers than these, dates aside; an empty list allows none."),
		value: list{of: func(e *Expect) *[]string { return &e.OnlyNumbers }, read: allowedNumbers, node: yamlfile.Plain, whole: true}, validate: validNumbers("only_numbers", func(e Expect) []string { return e.OnlyNumbers }), score: (*scorer).onlyNumbers},
	{key: "near", edit: kept, schema: `{"type": ["object", "null"], "maxProperties": 10, "additionalProperties": {"type": ["number", "string", "null"]}, "description": "Names of the answer, and the number that must be nearest to each; case does not matter."}`,
		value: named{of: func(e *Expect) *map[string]string { return &e.Near }, read: readNear, node: yamlfile.Plain}, validate: validNear, score: (*scorer).near},
	{key: "contains_any", edit: "one of these is in the answer", schema: schemaRef("texts", "Texts of which one must be in the answer; case does not matter."),
		value: list{of: func(e *Expect) *[]string { return &e.ContainsAny }, read: yamlfile.Place.Words, node: yamlfile.QuotedNode, whole: true}, score: (*scorer).containsAny},
	{key: "contains_all", edit: "the answer's words; keep those that matter", schema: schemaRef("texts", "Texts that must all be in the answer."),
		value: list{of: func(e *Expect) *[]string { return &e.ContainsAll }, read: yamlfile.Place.Words, node: yamlfile.QuotedNode}, score: (*scorer).containsAll},
	{key: "not_contains", edit: "what the answer did well not to say", schema: schemaRef("texts", "Texts that must not be in the answer."),
		value: list{of: func(e *Expect) *[]string { return &e.NotContains }, read: yamlfile.Place.Words, node: yamlfile.QuotedNode}, score: (*scorer).notContains},
	{key: "matches", edit: kept, schema: schemaRef("expressions", "Expressions of RE2 that must all match the answer."),
		value: list{of: func(e *Expect) *[]string { return &e.Matches }, read: expressions, node: yamlfile.QuotedNode}, validate: validExpressions("matches", func(e Expect) []string { return e.Matches }), score: (*scorer).matches},
	{key: "not_matches", edit: kept, schema: schemaRef("expressions", "Expressions of RE2 of which none may match the answer."),
		value: list{of: func(e *Expect) *[]string { return &e.NotMatches }, read: expressions, node: yamlfile.QuotedNode}, validate: validExpressions("not_matches", func(e Expect) []string { return e.NotMatches }), score: (*scorer).notMatches},
	{key: "order", edit: "exactly these calls in this order; in_order lets others stand between",
		schema: schemaEnum(orders, "strict: exactly these calls, in order. in_order: all of them in order, others between. any_order (the default): all of them. subset: no others, not all needed."),
		value:  word{of: func(e *Expect) *string { return (*string)(&e.Trajectory.Order) }, read: choice(orders), partOf: "calls"}, validate: validOrder},
	{key: "calls", edit: "what was called; leave arguments that do not matter to {$any: true}", schema: schemaRef("calls", "The calls the episode must make."),
		value: calls{of: func(e *Expect) *[]CallMatch { return &e.Trajectory.Required }}, validate: validCalls("required", func(e Expect) []CallMatch { return e.Trajectory.Required }), score: (*scorer).trajectory, rank: 4},
	{key: "forbidden", edit: "what must not be asked for", schema: schemaRef("forbidden_calls", "The calls it must not ask for, refused or not; with executed: true those it must not make."),
		value: calls{of: func(e *Expect) *[]CallMatch { return &e.Trajectory.Forbidden }, forbidden: true}, validate: validCalls("forbidden", func(e Expect) []CallMatch { return e.Trajectory.Forbidden })},
	{key: "before", edit: kept, schema: schemaRef("words", "Tools of which each must have succeeded before a call of the next one."),
		value: list{of: func(e *Expect) *[]string { return &e.Before }, read: yamlfile.Place.Words, node: yamlfile.Word, whole: true}, score: (*scorer).before, rank: 4},
	{key: "approvals", edit: kept, schema: `{"type": ["object", "null"], "additionalProperties": false, "properties": {"asked": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Tools for which a person was asked."}, "denied": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Tools for which a person declined."}, "at_most": {"type": "integer", "minimum": 0, "maximum": 10000, "description": "How many requests there may be, questions apart."}}, "description": "What people were asked for."}`,
		value: requests{}, score: (*scorer).approvals, rank: 4},
	{key: "bfcl", edit: kept, schema: `{"description": "The calls that the task's functions must get, as lists of accepted values of each argument; [] accepts no call: see docs/functions.md."}`,
		value: word{of: func(e *Expect) *string { return &e.BFCL }, read: func(p yamlfile.Place) string { return string(p.JSON()) }, node: jsonText}, score: (*scorer).bfcl, rank: 4},
	{key: "at_most", edit: "what this episode took; leave room if another way is as good", schema: schemaCaps,
		value: caps{}, score: (*scorer).caps, rank: 3},
	{key: "state", edit: "what this episode changed; keep what matters", schema: schemaRef("state_checks", "What the final state of the world must be."),
		value: stateChecks{}, validate: validState, score: (*scorer).state, rank: 5},
	{key: "unchanged", edit: "where nothing may change", schema: schemaRef("state_paths", "Paths of the state at and below which nothing may differ from the start; . is the whole state."),
		value: list{of: func(e *Expect) *[]string { return &e.Unchanged }, read: statePaths, node: yamlfile.Word}, validate: validUnchanged, score: (*scorer).unchanged, rank: 5},
	{key: "state_hash", edit: kept, schema: `{"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$", "description": "The SHA-256 of the whole final state, as in the ledger's state_after."}`,
		value: word{of: func(e *Expect) *string { return &e.StateHash }, read: stateHash}, score: (*scorer).stateHash, rank: 5},
	demanded("workflow", "What a workflow of the final state does when it is run: see docs/flowsim.md.", func(e *Expect) *string { return &e.Workflow }),
	demanded("effects", "What executions of the episode did outside of their workflows: see docs/flowsim.md.", func(e *Expect) *string { return &e.Effects }),
	{key: "score", edit: kept, schema: schemaRef("score", "Checks of your own, by programs or Go functions."), value: customChecks{}, score: (*scorer).scores, rank: 7},
	{key: "judge", edit: kept, schema: schemaRef("judge", "Judges of the suite, which judge the episode by their rubrics."), value: judgeChecks{}, score: (*scorer).judges, rank: 7},
	{key: "signals", edit: kept, schema: schemaRef("signals", ""),
		value: named{of: func(e *Expect) *map[string]string { return &e.Signals }, read: readSignals, node: conditionNode}, validate: validSignals, score: (*scorer).signals, rank: 6},
	{key: "table_label", edit: kept, schema: `{"type": ["string", "null"], "description": "The answer must name a date that a call returned as start_date or end_date, and that date's number of this label in the state."}`,
		value: word{of: func(e *Expect) *string { return &e.TableLabel }, read: yamlfile.Place.Filled}, score: (*scorer).table, rank: 2},
	{key: "note", schema: `{"type": "string", "description": "Why this outcome is accepted, for people."}`,
		value: word{of: func(e *Expect) *string { return &e.Note }, read: yamlfile.Place.Filled, fixed: true, remark: true, node: yamlfile.QuotedNode}},
}

// demanded is a check of the kind of the task's world.
func demanded(key, description string, of func(*Expect) *string) check {
	return check{key: key, edit: kept, schema: fmt.Sprintf(`{"description": %q}`, description), rank: 5,
		value: word{of: of, read: func(p yamlfile.Place) string { return string(p.JSON()) }, node: jsonText},
		score: func(s *scorer, e *Expect) {
			if want := *of(e); want != "" {
				s.wrongState(key, judge.Wrong(s.task.World, key, want, s.o.StateBefore, s.o.StateAfter))
			}
		}}
}

func jsonText(text string) *yaml.Node { return yamlfile.JSONNode(json.RawMessage(text)) }

// scored are the checks in the order of their results. That of the task's answer
// schema is among them: it is not a field of an outcome.
var scored = slices.SortedStableFunc(slices.Values(append(slices.Clone(checks), check{score: (*scorer).answerSchema, rank: 1})),
	func(a, b check) int { return cmp.Compare(a.rank, b.rank) })

// value is what kind of value the field of a check has.
type value interface {
	// set reads the field over what the outcome has, which it may have inherited.
	set(e *Expect, p yamlfile.Place, inherits bool)
	// takeAway empties the field where an outcome that inherits has null; false where
	// null is read like any other value.
	takeAway(e *Expect) bool
	// write returns the field of is; nil where it is that of was.
	write(is, was *Expect) *yaml.Node
	// parts are the demands of the field.
	parts(key string, e *Expect) []Part
}

// Part is one thing that an accepted outcome asks of an episode.
type Part struct {
	// Field is the field that asks, At its place in the outcome's object.
	Field string
	At    func(outcome yamlfile.Object) yamlfile.Place
	// Add makes an outcome ask for it, too.
	Add func(*Expect)
}

// Parts lists what the outcome asks, one by one. An order represents the whole
// trajectory, so that demands never become easier to meet by adding one.
func (e Expect) Parts() (out []Part) {
	for _, c := range checks {
		out = append(out, c.parts(c.key, &e)...)
	}
	return out
}

// Validate reports every field of the expectation that no outcome could be
// checked against, each named as in "numbers[0]" or
// "trajectory.required[1]: args.label.$regex"; nil when there is none.
func (e Expect) Validate() error {
	var errs []error
	for _, c := range checks {
		if c.validate != nil {
			errs = append(errs, c.validate(e))
		}
	}
	return errors.Join(errs...)
}

// ReadExpects reads expect and also_accept, and returns the objects they were read
// from, too. Every entry of also_accept starts as a copy of expect without its
// stop_reason and note; a field it has replaces the copy's, at_most, near and signals
// key by key, and an empty value takes the copy's away.
func ReadExpects(main, also yamlfile.Place) ([]Expect, []yamlfile.Object) {
	o := main.Object(expectFields())
	o.Need("status")
	all, places := []Expect{readExpect(o, Expect{}, false)}, []yamlfile.Object{o}
	if also.Node == nil {
		return all, places
	}
	items := also.Items()
	if len(items) == 0 && also.Kind() == "a list" {
		also.Failf("must contain at least one outcome; remove it if there is no other outcome")
	}
	base := all[0]
	base.StopReason, base.Note = "", ""
	for _, item := range items {
		o := item.Object(expectFields())
		all, places = append(all, readExpect(o, base, true)), append(places, o)
	}
	return all, places
}

// expectFields are the fields of an accepted outcome.
func expectFields() []string {
	out := make([]string, len(checks))
	for i, c := range checks {
		out[i] = c.key
	}
	return out
}

func readExpect(o yamlfile.Object, e Expect, inherits bool) Expect {
	for _, c := range checks {
		if p, ok := o.Get(c.key); ok && (!inherits || !p.Null() || !c.takeAway(&e)) {
			c.set(&e, p, inherits)
		}
	}
	return e
}

// WriteExpect writes an outcome as the fields that differ from base; one that base
// has and e lacks becomes null. With edits, a comment above each field says what it
// pins down.
func WriteExpect(e, base Expect, style yaml.Style, edits bool) *yaml.Node {
	out := yamlfile.Mapping(style)
	for _, c := range checks {
		node, comment := c.write(&e, &base), ""
		switch {
		case node == nil:
			continue
		case edits && c.key == "order" && e.Trajectory.Order == AnyOrder:
			comment = "# edit: these calls, in whatever order: several calls ran in parallel"
		case edits && c.edit != "":
			comment = "# edit: " + c.edit
		}
		yamlfile.Add(out, c.key, node, comment)
	}
	return out
}

// The validations of the table.

func validNumbers(key string, of func(Expect) []string) func(Expect) error {
	return func(e Expect) error { _, err := parseDecimals(key, of(e)); return err }
}

func validExpressions(key string, of func(Expect) []string) func(Expect) error {
	return func(e Expect) error { _, err := compileAll(key, of(e)); return err }
}

func validCalls(field string, of func(Expect) []CallMatch) func(Expect) error {
	return func(e Expect) error { _, err := compileCalls(field, of(e)); return err }
}

func validOrder(e Expect) error {
	if order := string(e.Trajectory.Order); order != "" && !slices.Contains(orders, order) {
		return fmt.Errorf("trajectory.order: %q is not an order; use strict, in_order, any_order or subset", order)
	}
	return nil
}

//go:embed schema/suite.schema.json
var schemaText []byte

// Schema returns the JSON Schema (2020-12) of suite.yaml and of task files, for
// completion in editors. Package load checks more than a schema can say. The caller
// owns the slice.
func Schema() []byte { return slices.Clone(schemaText) }
