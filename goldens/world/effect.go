package world

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// maxFault bounds what an error quotes of the arguments' fault, in bytes.
const maxFault = 400

// Return is the effect of a call that brings a value and changes nothing. The value is
// written as canonical JSON (RFC 8785 with exact integers); one that cannot be is a result
// of outcome error with code E_UNENCODABLE.
func Return(value any) Effect {
	text, err := json.Marshal(value)
	if err == nil {
		var out json.RawMessage
		if out, err = canonical(text); err == nil {
			return Effect{Result: tool.Result{Outcome: tool.OK, Value: out}}
		}
	}
	return Refuse("E_UNENCODABLE", "the result is not JSON: %v", err)
}

// Refuse is the effect of a call that the world refuses: outcome error, with a code such
// as E_NOT_FOUND and a message for the model.
func Refuse(code, format string, args ...any) Effect {
	return Effect{Result: tool.Result{Outcome: tool.Error, Code: code, Message: fmt.Sprintf(format, args...)}}
}

// NoTool is the effect of a call of a tool that the world does not have.
func NoTool(c tool.Call) Effect {
	return Refuse("E_NO_TOOL", "this world has no tool %q", c.Name)
}

// ReadArgs decodes the arguments of a call into a struct, which must have a field for each
// of them. It returns nil, or the refusal to return, with code E_BAD_ARGS.
func ReadArgs(c tool.Call, to any) *Effect {
	dec := json.NewDecoder(bytes.NewReader(c.Args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return new(Refuse("E_BAD_ARGS", "arguments: %s", clip.Bytes(err.Error(), maxFault)))
	}
	return nil
}

// canonical returns the canonical form of any JSON value.
func canonical(value []byte) (json.RawMessage, error) {
	const open, end = `{"v":`, `}`
	out, err := tool.Canonical([]byte(open + string(value) + end))
	if err != nil {
		return nil, fmt.Errorf("canonical form of a value: %w", err)
	}
	return json.RawMessage(out[len(open) : len(out)-len(end)]), nil
}
