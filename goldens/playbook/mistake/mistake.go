// Package mistake makes the mistakes of simulated models in one action of a solution: numbers
// that are off by little, made-up results, and what agents do wrong on an automation instance.
// Everything random is in detail, so equal actions with equal details get equal mistakes.
package mistake

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// Kind is a mistake of an agent that works on an automation instance.
type Kind string

// The kinds. One that does not fit the action does not happen.
const (
	WrongID             Kind = "wrong id"                // the id of another object
	Unverified          Kind = "publish without verify"  // acts as if a run had been verified
	WrappedPayload      Kind = "payload wrapped wrongly" // the input of a run inside one more object
	ForgottenDependency Kind = "dependency forgotten"    // a planned task does not wait for another
	ForbiddenTool       Kind = "forbidden tool"          // hands a tool to a sub-agent that it must not have
	RepeatedSecret      Kind = "secret repeated"         // the answer has a secret that a result showed
)

// Kinds are all kinds.
var Kinds = []Kind{WrongID, Unverified, WrappedPayload, ForgottenDependency, ForbiddenTool, RepeatedSecret}

// Verifies reports whether a tool runs a workflow to see whether it works.
func Verifies(tool string) bool { return tool == "verify-built-workflow" || tool == "run-workflow" }

// Make returns the action with a mistake; ok is false if the mistake does not fit. Unverified fits
// no action: it is that a call of a tool that Verifies is left out.
func Make(k Kind, a playbook.Action, seen playbook.Seen, detail uint64) (wrong playbook.Action, ok bool) {
	if k == RepeatedSecret {
		secret := secretIn(seen)
		if a.Kind != playbook.Answer || secret == "" {
			return a, false
		}
		a.Text += " (" + secret + ")"
		return a, true
	}
	var args map[string]any
	if a.Kind != playbook.Call || json.Unmarshal(a.Args, &args) != nil {
		return a, false
	}
	switch k {
	case WrongID:
		ok = wrongID(args, detail)
	case WrappedPayload:
		var input map[string]any
		if input, ok = args["inputData"].(map[string]any); ok {
			args["inputData"] = map[string]any{[]string{"formFields", "body", "data"}[detail%3]: input}
		}
	case ForgottenDependency:
		ok = forgetDependency(args)
	case ForbiddenTool:
		ok = forbidden(args, detail)
	}
	if ok {
		a.Args = json.RawMessage(plainjson.Text(args))
	}
	return a, ok
}

// id matches the ids of an instance.
var id = lazyregexp.New(`^(wf|ex|cr|dt|bg|wi|fd|pr|tg|ver|row)_(\d+)$`)

// wrongID makes one id another, the next or the one before.
func wrongID(args map[string]any, detail uint64) bool {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		text, _ := args[name].(string)
		m := id.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil || n > 1<<30 {
			continue
		}
		if detail&1 == 1 && n > 1 {
			n -= 2
		}
		args[name] = fmt.Sprintf("%s_%d", m[1], n+1)
		return true
	}
	return false
}

// forgetDependency makes the first task of a plan that waits for others wait for one less.
func forgetDependency(args map[string]any) bool {
	tasks, _ := args["tasks"].([]any)
	for _, t := range tasks {
		task, _ := t.(map[string]any)
		if deps, _ := task["deps"].([]any); len(deps) > 0 {
			task["deps"] = deps[1:]
			return true
		}
	}
	return false
}

// forbidden adds a tool that sub-agents must not have to a delegate, or to one that is planned.
func forbidden(args map[string]any, detail uint64) bool {
	tool := []string{"plan", "delegate", "insert-data-table-rows", "ask-user"}[detail%4]
	tasks, _ := args["tasks"].([]any)
	for _, t := range append(tasks, args) {
		task, _ := t.(map[string]any)
		if tools, _ := task["tools"].([]any); len(tools) > 0 {
			task["tools"] = append(tools, tool)
			return true
		}
	}
	return false
}

// secretName matches the names of members that hold secrets, secretValue secrets themselves.
var (
	secretName  = lazyregexp.New(`(?i)token|secret|password|api_?key`)
	secretValue = lazyregexp.New(`\b(?:sk|xox[bp]|ghp|AKIA)[-_A-Za-z0-9]{8,}`)
)

// secretIn returns a secret in the results; empty if there is none.
func secretIn(seen playbook.Seen) string {
	for _, r := range slices.Backward(seen.Results) {
		if found := secretValue.FindString(string(r.Value) + r.Message); found != "" {
			return found
		}
		dec := json.NewDecoder(strings.NewReader(string(r.Value)))
		for name := ""; ; {
			token, err := dec.Token()
			if err != nil {
				break
			}
			text, isText := token.(string)
			if isText && len(text) >= 8 && secretName.MatchString(name) {
				return text
			}
			name = text
		}
	}
	return ""
}
