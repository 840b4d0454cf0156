package wire

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
)

// formatName is what both dialects take as the name of a schema or a tool.
var formatName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// CheckFormat refuses a call whose format the wire cannot send, before anything
// is sent: a mode that is none of modes, a name that no provider takes, a schema
// that is no JSON object. The error is a *providers.Error of kind
// invalid_request; a call without a format has none.
func (c *Client) CheckFormat(call providers.Call, modes []providers.Mode) error {
	f := call.Format
	refuse := func(format string, args ...any) error {
		return c.Error(Answer{}, call.Model, providers.InvalidRequest, fmt.Sprintf(format, args...), nil)
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

// ToolCall is a call of a tool in a reply.
type ToolCall struct {
	Name string
	// Args are the arguments as the provider wrote them.
	Args string
}

// TakeForced makes the arguments of the one call of the forced tool the reply's
// text. Of several calls the first counts; without any the text stays. Either
// way a warning says so. A forced call that came to its end finishes as a tool
// call, whatever the provider's word for it.
func TakeForced(r *providers.Reply, tool string, calls []ToolCall) {
	var forced []ToolCall
	for _, c := range calls {
		if c.Name == tool {
			forced = append(forced, c)
		}
	}
	switch {
	case len(forced) == 0 && len(calls) > 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("forced_tool: the model called %.60q instead of %s, the text is what it said besides", calls[0].Name, tool))
		return
	case len(forced) == 0:
		r.Warnings = append(r.Warnings, fmt.Sprintf("forced_tool: the model did not call %s, the text is what it said instead", tool))
		return
	case len(calls) > 1:
		r.Warnings = append(r.Warnings, fmt.Sprintf("forced_tool: %d calls came, the first of %s was taken", len(calls), tool))
	}
	r.Text = forced[0].Args
	if r.Finish == providers.FinishStop {
		r.Finish = providers.FinishTools
	}
}
