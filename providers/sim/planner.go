package sim

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// planOf is a plan as the tool create_task takes it.
type planOf struct {
	Title string     `json:"title"`
	Steps []planStep `json:"steps"`
}

var (
	objectiveOf = regexp.MustCompile(`(?s)^OBJECTIVE:\n<data>(.*?)</data>`)
	inputOf     = regexp.MustCompile(`^- ([^:]+): (.*)$`)
)

// makePlan answers a planner's prompt.
func (p profile) makePlan(q modelRequest, d draws) (out spoken, ok bool) {
	at := q.lastBeginning("OBJECTIVE:")
	if at < 0 {
		return out, false
	}
	pr, ok := readObjective(q.messages[at].text)
	if !ok {
		return out, false
	}
	q.history(at, &pr)
	plan := planOf{Title: clip.Runes(oneLine(pr.request), 60), Steps: think(p, pr).steps()}
	slip, drawn := pick(d.format, p.planning, formScale[planSlip](p, pr))
	if drawn {
		plan = misplan(slip, plan)
	}
	args := string(encodeJSON(plan))
	forced := q.choice == choiceAny || q.choice == choiceNamed
	switch {
	case drawn && slip == fencedPlan && !forced:
		return spoken{text: "Here is the plan:\n```json\n" + args + "\n```"}, true
	case drawn && slip == prosePlan && !forced:
		return spoken{text: prosaic(plan)}, true
	}
	return spoken{calls: []invocation{{name: createTask, args: args}}}, true
}

// readObjective takes the planner's message apart.
func readObjective(text string) (p prompt, ok bool) {
	m := objectiveOf.FindStringSubmatch(text)
	if m == nil {
		return p, false
	}
	p.request, p.tools = m[1], map[string]bool{}
	part := ""
	for l := range strings.Lines(text[len(m[0]):]) {
		l = strings.TrimSpace(l)
		for _, heading := range []string{"CONSTRAINTS:", "INPUTS:", "OUTPUT SCHEMA:", "TOOLS:"} {
			if strings.HasPrefix(l, heading) {
				part = heading
			}
		}
		entry := inputOf.FindStringSubmatch(l)
		switch {
		case part == "CONSTRAINTS:":
			p.constraints += strings.TrimPrefix(l, part)
		case entry == nil:
		case part == "INPUTS:":
			p.given = append(p.given, handed{entry[1], entry[2]})
		case part == "TOOLS:":
			p.tools[entry[1]] = true
		}
	}
	return p, true
}

// planSlip is a mistake in a plan.
type planSlip string

const (
	cyclic        planSlip = "cycle"              // the first step depends on the last
	unknownStep   planSlip = "unknown dependency" // a step depends on one that is not there
	duplicateStep planSlip = "duplicate id"       // two steps of one id
	unknownTools  planSlip = "unknown tool"       // a step wants a tool that is not on offer
	brokenSchema  planSlip = "invalid schema"     // an output schema that is no schema
	noSteps       planSlip = "no steps"           // an empty plan
	fencedPlan    planSlip = "fenced"             // the plan as text in a fence
	prosePlan     planSlip = "prose"              // the plan in words
)

// misplan puts a slip into a plan.
func misplan(slip planSlip, plan planOf) planOf {
	steps := slices.Clone(plan.Steps)
	if len(steps) == 0 {
		return plan
	}
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

// prosaic puts a plan in words.
func prosaic(plan planOf) string {
	var out []string
	for _, s := range plan.Steps {
		out = append(out, s.Instructions)
	}
	return "I would do this: " + strings.Join(out, " Then: ")
}

// lastBeginning finds the user's last message that begins so; -1 if none does.
func (q modelRequest) lastBeginning(with string) int {
	for i := len(q.messages) - 1; i >= 0; i-- {
		if !q.messages[i].own && strings.HasPrefix(q.messages[i].text, with) {
			return i
		}
	}
	return -1
}

// stepText matches the parts of a step's message.
var stepText = regexp.MustCompile(`(?s)^STEP: [^\n]*\nINSTRUCTIONS:\n<data>(.*?)</data>`)

var (
	objectiveLine = regexp.MustCompile(`(?s)OBJECTIVE:\s*<data>(.*?)</data>`)
	dateLine      = regexp.MustCompile(`Today's date is (\d{4}-\d{2}-\d{2})`)
)

// workStep answers the prompt of one step of a plan.
func (p profile) workStep(q modelRequest, d draws) (out spoken, ok bool) {
	at := q.lastBeginning("STEP: ")
	if at < 0 {
		return out, false
	}
	text := q.messages[at].text
	m := stepText.FindStringSubmatch(text)
	if m == nil {
		return out, false
	}
	pr := prompt{request: m[1], objective: m[1], constraints: line(q.talk.system, "CONSTRAINTS:")}
	if o := objectiveLine.FindStringSubmatch(q.talk.system); o != nil && o[1] != "" {
		pr.objective = o[1]
	}
	pr.handOver(text[len(m[0]):])
	if s := summaryPart.FindStringSubmatch(text); s != nil {
		pr.entries = readSummary(s[1])
	}
	q.history(at, &pr)
	q.offered(&pr)
	if today := dateLine.FindStringSubmatch(q.talk.system); today != nil && !pr.tools[todayRange] {
		pr.given = append(pr.given, handed{"today", string(encodeJSON(today[1]))})
	}
	return p.perform(q, pr, d), true
}
