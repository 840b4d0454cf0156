package model

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/playbook/mistake"
)

// slip is a mistake in what a model decides. One that does not fit the turn, such as a
// wrong number in a question, does not happen.
type slip string

const (
	wrongArgument    slip = "wrong argument"    // one argument is another value
	wrongCall        slip = "wrong call"        // of another available tool
	repeatCall       slip = "repeat call"       // the last call again
	forgetCall       slip = "forget call"       // continues as if a call had been made
	answerEarly      slip = "answer early"      // answers before acting, with made-up results
	wrongNumber      slip = "wrong number"      // one number of the answer is another
	needlessQuestion slip = "needless question" // asks although nothing is missing
	claimDone        slip = "claim done"        // says that a change is made, and does not make it
	forbiddenChange  slip = "forbidden change"  // changes what the solution does not
)

// slip puts a slip into actions; fits is false if it does not fit.
func (t *turn) slip(play *playbook.Play, s slip, acts []playbook.Action) (wrong []playbook.Action, fits bool) {
	detail := t.draws.decisionDetail
	at := int(detail % uint64(len(acts)))
	detail >>= 8
	a := &acts[at]
	calling := a.Kind == playbook.Call
	switch s {
	case wrongArgument:
		a.Args, fits = t.misargued(*a, detail)
	case wrongCall, forbiddenChange:
		writes := play.Writes()
		if !calling && s == wrongCall || t.blocked([]playbook.Action{{Kind: playbook.Call}}) != "" {
			return acts, false
		}
		for _, name := range t.view.tools {
			if (s == wrongCall) != slices.Contains(writes, name) && name != a.Tool {
				if args, ok := t.filled(name, detail); ok {
					return []playbook.Action{{Kind: playbook.Call, Tool: name, Args: args}}, true
				}
			}
		}
	case repeatCall:
		if r := t.view.lastResult(); r != nil && a.Kind != playbook.Ask && t.blocked([]playbook.Action{{Kind: playbook.Call}}) == "" {
			return []playbook.Action{{Kind: playbook.Call, Tool: r.Tool, Args: r.Args}}, true
		}
	case forgetCall:
		if len(acts) > 1 {
			return slices.Delete(acts, at, at+1), true
		}
		if calling {
			return t.inventResults(play, acts, detail, false)
		}
	case answerEarly:
		if calling {
			return t.inventResults(play, acts, detail, true)
		}
	case claimDone:
		if calling && slices.Contains(play.Writes(), a.Tool) {
			return t.inventResults(play, acts, detail, true)
		}
	case wrongNumber:
		if a.Kind == playbook.Answer || a.Kind == playbook.Output {
			a.Text, a.Value, fits = mistake.Number(a.Text, a.Value, detail)
		}
	case needlessQuestion:
		if a.Kind != playbook.Ask && len(t.view.seen.Replies) == 0 {
			return []playbook.Action{{Kind: playbook.Ask, Text: "Just to be sure, what exactly do you mean?"}}, true
		}
	}
	return acts, fits
}

// mistaken makes a mistake of agents on an automation instance in one of the actions.
func (t *turn) mistaken(play *playbook.Play, k mistake.Kind, acts []playbook.Action) ([]playbook.Action, bool) {
	detail := t.draws.actingDetail
	at := int(detail % uint64(len(acts)))
	if a := acts[at]; k == mistake.Unverified && a.Kind == playbook.Call && mistake.Verifies(a.Tool) {
		return t.inventResults(play, acts, detail>>8, false)
	}
	wrong, fits := mistake.Make(k, acts[at], t.view.seen, detail>>8)
	acts[at] = wrong
	return acts, fits
}

// inventResults continues as if calls had been made: to what comes after them, or to the answer.
// Their results are made up, as if from memory.
func (t *turn) inventResults(play *playbook.Play, acts []playbook.Action, detail uint64, toTheEnd bool) ([]playbook.Action, bool) {
	seen := t.view.seen
	seen.Results = slices.Clone(seen.Results)
	for range 50 {
		for i, a := range acts {
			seen.Results = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Value: mistake.Result(a, t.view.seen, detail+uint64(i)*977)})
		}
		next, err := play.Next(seen)
		if err != nil || len(next) == 0 {
			break
		}
		if acts = next; acts[0].Kind != playbook.Call || !toTheEnd {
			return acts, acts[0].Kind != playbook.Ask
		}
	}
	number := strconv.FormatUint(100+detail%900, 10)
	return []playbook.Action{{Kind: playbook.Answer, Text: "That is done. The number is " + number + "."}}, true
}

func (t *turn) misargued(a playbook.Action, detail uint64) (json.RawMessage, bool) {
	var args map[string]any
	if a.Kind != playbook.Call || json.Unmarshal(a.Args, &args) != nil {
		return a.Args, false
	}
	names := slices.Sorted(maps.Keys(args))
	for i := range names {
		name := names[(int(detail%97)+i)%len(names)]
		if other, ok := t.beside(a.Tool, name, args[name], detail>>7); ok {
			args[name] = other
			return JSON(args), true
		}
	}
	return a.Args, false
}

// beside is another value for an argument: the day, the number, the choice or the known
// value beside it, or a text without its last word.
func (t *turn) beside(tool, name string, value any, detail uint64) (any, bool) {
	step := 1 - 2*int(detail&1)
	switch v := value.(type) {
	case float64:
		return v + float64(step), true
	case string:
		if day, err := time.Parse(time.DateOnly, v); err == nil {
			return day.AddDate(0, 0, step).Format(time.DateOnly), true
		}
		others := slices.DeleteFunc(append(t.choices(tool, name), t.known(name)...), func(s string) bool { return s == v })
		if len(others) > 0 {
			return others[detail>>1%uint64(len(others))], true
		}
		if at := strings.LastIndexByte(v, ' '); at > 0 {
			return v[:at], true
		}
	}
	return nil, false
}

// property is what a schema says of one argument.
type property struct {
	Type any
	Enum []any
}

// arguments are the properties of a tool's arguments and those that are required.
func (t *turn) arguments(tool string) (properties map[string]property, required []string) {
	var schema struct {
		Properties map[string]property
		Required   []string
	}
	_ = json.Unmarshal(t.Schemas[tool], &schema) // none describes nothing
	return schema.Properties, schema.Required
}

func (t *turn) choices(tool, name string) (out []string) {
	properties, _ := t.arguments(tool)
	for _, v := range properties[name].Enum {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// known are the texts that results have under a name, each once, in order.
func (t *turn) known(name string) (out []string) {
	for _, r := range t.view.seen.Results {
		for _, raw := range []json.RawMessage{r.Args, r.Value} {
			for before, text := range texts(raw) {
				if before == name && text != "" && !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// filled are arguments for a tool from what is known; ok is false if one that is required is not.
func (t *turn) filled(tool string, detail uint64) (args json.RawMessage, ok bool) {
	properties, required := t.arguments(tool)
	out := map[string]any{}
	for _, name := range required {
		values := append(t.known(name), t.choices(tool, name)...)
		switch {
		case len(values) > 0:
			out[name] = values[detail%uint64(len(values))]
		case properties[name].Type == "integer" || properties[name].Type == "number":
			out[name] = 1 + detail%50
		default:
			return nil, false
		}
	}
	return JSON(out), true
}
