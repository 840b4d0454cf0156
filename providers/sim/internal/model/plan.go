package model

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

var (
	// stepOpening is how the system prompt of a step of a plan begins.
	stepOpening = lazyregexp.New(`(?m)^You work on one step of a plan\.`)
	objectiveOf = lazyregexp.New(`(?s)OBJECTIVE:\s*<data>(.*?)</data>`)
	inputOf     = lazyregexp.New(`^- ([^:]+): (.*)$`)
	stepText    = lazyregexp.New(`(?s)^STEP: ([^\n]*)\nINSTRUCTIONS:\n<data>(.*?)</data>`)
)

// planOf is a plan as the tool create_task takes it.
type planOf struct {
	Title string     `json:"title"`
	Steps []planStep `json:"steps"`
}

// planStep is a step of a plan.
type planStep struct {
	ID           string   `json:"id"`
	Instructions string   `json:"instructions"`
	DependsOn    []string `json:"depends_on"`
	Mode         string   `json:"mode,omitempty"`
	OutputSchema string   `json:"output_schema,omitempty"`
	PerItem      string   `json:"per_item_schema,omitempty"`
	Tools        []string `json:"tools,omitempty"`
}

// readObjective reads a planner's prompt; ok is false if it is not one.
func (t *turn) readObjective() (ok bool) {
	at, text := t.lastBeginning("OBJECTIVE:")
	m := objectiveOf.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	t.view.ask(m[1])
	_, listed, _ := strings.Cut(text, "\n\nTOOLS:")
	for l := range strings.Lines(listed) {
		if entry := inputOf.FindStringSubmatch(strings.TrimSpace(l)); entry != nil {
			t.view.tools = append(t.view.tools, entry[1])
		}
	}
	t.history(at)
	return true
}

func (t *turn) sayPlan(play *playbook.Play) Said {
	plan := planFor(play)
	title, _ := Cut(oneLine(t.view.request), 15)
	plan.Title = title
	if t.profile.idle {
		plan.Steps = []planStep{{ID: "answer", Instructions: "Say nothing.", DependsOn: []string{}}}
	}
	slip, drawn := pick(t.draws.form, t.profile.planning, formScale[planSlip](t))
	if drawn {
		plan = misplan(slip, plan)
	}
	args := string(JSON(plan))
	switch {
	case drawn && slip == fencedPlan && t.Must == "":
		return Said{Text: "Here is the plan:\n```json\n" + args + "\n```"}
	case drawn && slip == prosePlan && t.Must == "":
		return Said{Text: planAsText(plan)}
	}
	return Said{Calls: []Call{{Name: createTask, Args: args}}}
}

// planFor makes a step of every stage of a solution. The last one follows all that none other does.
func planFor(play *playbook.Play) (plan planOf) {
	stages := play.Stages()
	followed := map[string]bool{}
	for i, s := range stages {
		step := planStep{ID: s.ID, Instructions: s.Text, DependsOn: slices.Concat([]string{}, s.After, s.Inputs), Tools: s.Tools}
		for _, id := range s.After {
			followed[id] = true
		}
		switch {
		case s.List:
			step.Mode, step.OutputSchema = "discover", `{"type":"array","items":{}}`
		case s.Each != "":
			step.Mode, step.PerItem = "process", `{"type":"object"}`
		case i < len(stages)-1:
			step.OutputSchema = `{"type":"object"}`
		default:
			for _, before := range stages[:i] {
				if !followed[before.ID] {
					step.DependsOn = append(step.DependsOn, before.ID)
				}
			}
		}
		plan.Steps = append(plan.Steps, step)
	}
	return plan
}

// readStep reads the prompt of one step of a plan; ok is false if it is not one.
func (t *turn) readStep() (ok bool) {
	at, text := t.lastBeginning("STEP: ")
	step, objective := stepText.FindStringSubmatch(text), objectiveOf.FindStringSubmatch(t.System)
	if step == nil || objective == nil {
		return false
	}
	t.step = step[1]
	t.view.constraints, t.view.tools = line(t.System, "CONSTRAINTS:"), offered(t.Tools)
	t.view.ask(objective[1])
	t.view.give(text[len(step[0]):])
	if s := summaryPart.FindStringSubmatch(text); s != nil {
		for _, l := range readSummary(s[1]) {
			t.view.result(l.Name, l.Args, l.result, "", "")
		}
	}
	t.history(at)
	return true
}

// sayStep does the part of a solution that a step of the plan is.
func (t *turn) sayStep(play *playbook.Play) Said {
	stages := play.Stages()
	stage := stages[len(stages)-1]
	for _, s := range stages {
		if s.ID == t.step {
			stage = s
		}
	}
	return t.perform(stage.Play)
}

// planSlip is a mistake in a plan.
type planSlip string

const (
	cyclic        planSlip = "cycle"              // the first step depends on the last
	unknownStep   planSlip = "unknown dependency" // a step depends on one that is not there
	duplicateStep planSlip = "duplicate id"       // two steps of one id
	unknownTools  planSlip = "unknown tool"       // a step names an unavailable tool
	brokenSchema  planSlip = "invalid schema"     // an output schema that is not a schema
	noSteps       planSlip = "no steps"           // an empty plan
	fencedPlan    planSlip = "fenced"             // the plan as text in a fence
	prosePlan     planSlip = "prose"              // the plan in words
)

func misplan(slip planSlip, plan planOf) planOf {
	steps := slices.Clone(plan.Steps)
	first, last := &steps[0], &steps[len(steps)-1]
	switch slip {
	case cyclic:
		first.DependsOn = append(slices.Clone(first.DependsOn), last.ID)
	case unknownStep:
		last.DependsOn = append(slices.Clone(last.DependsOn), "lookup")
	case duplicateStep:
		steps = append(steps, *first)
	case unknownTools:
		first.Tools = append(slices.Clone(first.Tools), "web_search")
	case brokenSchema:
		first.OutputSchema = "{type: object}"
	case noSteps:
		steps = []planStep{}
	}
	plan.Steps = steps
	return plan
}

func planAsText(plan planOf) string {
	var out []string
	for _, s := range plan.Steps {
		out = append(out, s.Instructions)
	}
	return "I would do this: " + strings.Join(out, " Then: ")
}

// Summaries of the history of a step keep what was called and the results, in lines
// that are read again later:
//
//	get_counts {"label":"angry",…} gave {"value":31,…}
var (
	condensing    = lazyregexp.New(`(?m)^You condense the history of one step of a plan`)
	historyLine   = lazyregexp.New(`^- (call|tool|summary of what was before):? (?:([\w-]+):? )?<data>(.*)</data>$`)
	summaryPart   = lazyregexp.New(`(?s)\n\nSUMMARY OF WHAT WAS DONE SO FAR:\n<data>(.*?)</data>`)
	summaryResult = lazyregexp.New(`([\w-]+) \{`)
)

// maxCondensed bounds a summary, in tokens.
const maxCondensed = 480

// calledFor is a call and its result.
type calledFor struct {
	Call
	result string
}

func (c calledFor) String() string { return c.Name + " " + c.Args + " gave " + c.result }

func (t *turn) condense() (said Said, ok bool) {
	_, history, ok := strings.Cut(t.last(), "\n\nHISTORY:")
	if !ok || !condensing.MatchString(t.System) {
		return said, false
	}
	var kept []string
	var open []Call
	for line := range strings.Lines(history) {
		m := historyLine.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case m == nil:
		case m[1] == "call":
			open = append(open, Call{Name: m[2], Args: m[3]})
		case m[1] != "tool":
			for _, c := range readSummary(m[3]) {
				kept = append(kept, c.String())
			}
		default:
			at := slices.IndexFunc(open, func(c Call) bool { return c.Name == m[2] })
			if at < 0 {
				continue
			}
			if _, _, failed := (Result{Text: m[3]}).failure(); !failed {
				kept = append(kept, calledFor{open[at], m[3]}.String())
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	for Tokens(strings.Join(kept, "\n")) > maxCondensed {
		kept = kept[1:]
	}
	if len(kept) == 0 {
		return Said{Text: "Nothing was found out so far."}, true
	}
	return Said{Text: strings.Join(kept, "\n")}, true
}

func readSummary(text string) (out []calledFor) {
	for {
		at := summaryResult.FindStringSubmatchIndex(text)
		if at == nil {
			return out
		}
		name := text[at[2]:at[3]]
		args, rest, ok := cutJSON(text[at[1]-1:])
		text = text[at[1]:]
		if rest, gave := strings.CutPrefix(rest, " gave "); ok && gave {
			if data, after, ok := cutJSON(rest); ok {
				out, text = append(out, calledFor{Call{Name: name, Args: args}, data}), after
			}
		}
	}
}

// cutJSON splits a text behind the JSON value it begins with.
func cutJSON(text string) (value, rest string, ok bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return "", text, false
	}
	return compact(string(raw)), text[dec.InputOffset():], true
}
