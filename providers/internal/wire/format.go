package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// formatName is what both dialects take as the name of a schema or a tool.
var formatName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// Check refuses a call that cannot be sent, before anything is sent: a mode that
// is not one of modes, a name of a schema or a tool that no provider takes, a schema
// that is not a JSON object, tools beside a forced one, a choice of a tool that is
// not available. The error is a *fault.Error of kind invalid_request.
func (c *Client) Check(call providers.Call, modes []providers.Mode) error {
	if problem := toolProblem(call); problem != "" {
		return c.Error(response{}, call.Model, fault.InvalidRequest, problem, nil)
	}
	return c.checkFormat(call, modes)
}

// toolProblem says what is wrong with the tools of a call.
func toolProblem(call providers.Call) string {
	names := map[string]bool{}
	for _, t := range call.Tools {
		switch {
		case !formatName.MatchString(t.Name):
			return fmt.Sprintf("tool %.80q: the name must be 1 to 64 letters, digits, _ or -", t.Name)
		case names[t.Name]:
			return fmt.Sprintf("tool %s: there are two of that name", t.Name)
		case len(t.Schema) > 0 && (!json.Valid(t.Schema) || !bytes.HasPrefix(bytes.TrimSpace(t.Schema), []byte("{"))):
			return fmt.Sprintf("tool %s: the schema is not a JSON object", t.Name)
		}
		names[t.Name] = true
	}
	switch k := call.Choice.Kind; {
	case len(call.Tools) > 0 && ForcedTool(call) != "":
		return "output mode forced_tool: the tool it makes must be the only one"
	case k == providers.ChoiceNamed && !names[call.Choice.Name]:
		return fmt.Sprintf("tool choice: %.80q is not on offer", call.Choice.Name)
	case k == providers.ChoiceAny && len(names) == 0:
		return "tool choice: some tool must be called and none is on offer"
	case !slices.Contains([]providers.ChoiceKind{providers.ChoiceAuto, providers.ChoiceNone, providers.ChoiceAny, providers.ChoiceNamed}, k):
		return fmt.Sprintf("tool choice: unknown kind %.40q", k)
	}
	return ""
}

func (c *Client) checkFormat(call providers.Call, modes []providers.Mode) error {
	f := call.Format
	refuse := func(format string, args ...any) error {
		return c.Error(response{}, call.Model, fault.InvalidRequest, fmt.Sprintf(format, args...), nil)
	}
	switch {
	case f == nil:
		return nil
	case !slices.Contains(modes, f.Mode):
		return refuse("output mode %.40q is not part of this wire, which has %s", f.Mode, join(modes))
	case f.Mode == providers.JSONObject:
		return nil
	case !formatName.MatchString(f.Name):
		return refuse("output mode %s: name %.80q must be 1 to 64 letters, digits, _ or -", f.Mode, f.Name)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(f.Schema, &object); err != nil || object == nil {
		return refuse("output mode %s: the schema of %s is not a JSON object", f.Mode, f.Name)
	}
	return nil
}

// ForcedTool is the tool that a call forces; empty if it forces none.
func ForcedTool(call providers.Call) string {
	if call.Format == nil || call.Format.Mode != providers.ForcedTool {
		return ""
	}
	return call.Format.Name
}

// join lists modes for a message.
func join(modes []providers.Mode) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}
