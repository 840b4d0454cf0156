package simserver

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/internal/clip"
)

// output is what a model said to a task: a text, calls, or neither.
type output struct {
	text  string
	calls []call
}

// call is a call with the text of its arguments.
type call struct{ name, args string }

// maxListed bounds the problems of a file that are listed.
const maxListed = 100

// Read reads a file of outputs: a JSON object a line with id and output. Other members are
// ignored. The error joins all problems, each with file and line.
//
// An output is a text, null, or a list of calls, {NAME: ARGUMENTS} or {"name": NAME,
// "arguments": ARGUMENTS} each. Arguments are an object, or a text that holds one. An empty
// list, and a list of one empty object, have no call. Anything else is played as a text.
func Read(name string, text []byte) (map[string]output, error) {
	out, at := map[string]output{}, map[string]int{}
	var errs []error
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\uFEFF"))) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var row struct {
			ID     string          `json:"id"`
			Output *jsontext.Value `json:"output"`
		}
		err := json.Unmarshal(line, &row)
		switch {
		case err != nil:
			err = fmt.Errorf("is not a JSON object with id and output: %s", strings.Join(strings.Fields(err.Error()), " "))
		case row.ID == "" || row.Output == nil && !bytes.Contains(line, []byte(`"output"`)):
			err = errors.New("must have an id and an output; write null for an output without text and calls")
		case at[row.ID] > 0:
			err = fmt.Errorf("id %s has an output already, on line %d", quote(row.ID), at[row.ID])
		default:
			at[row.ID] = n
			if row.Output != nil {
				out[row.ID] = readOutput(*row.Output)
			} else {
				out[row.ID] = output{}
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, n, err))
		}
		if len(errs) == maxListed {
			errs = append(errs, fmt.Errorf("%s: more problems are not listed", name))
			break
		}
	}
	if n == 0 {
		errs = append(errs, fmt.Errorf("%s: the file is empty", name))
	}
	return out, errors.Join(errs...)
}

func readOutput(v jsontext.Value) output {
	if v.Kind() == '"' {
		var text string
		_ = json.Unmarshal(v, &text) // a string decodes
		if list := jsontext.Value(strings.TrimSpace(text)); list.Kind() == '[' && list.IsValid() {
			if calls, ok := readCalls(list); ok {
				return output{calls: calls}
			}
		}
		return output{text: text}
	}
	if calls, ok := readCalls(v); ok {
		return output{calls: calls}
	}
	return output{text: string(v)}
}

// readCalls reads a call or a list of them; false if it is something else.
func readCalls(v jsontext.Value) (calls []call, ok bool) {
	list := []jsontext.Value{v}
	if v.Kind() == '[' {
		if err := json.Unmarshal(v, &list); err != nil {
			return nil, false
		}
	}
	if v.Kind() == 'n' || len(list) == 1 && string(bytes.Join(bytes.Fields(list[0]), nil)) == "{}" {
		return nil, true
	}
	for _, item := range list {
		c, ok := readCall(item)
		if !ok {
			return nil, false
		}
		calls = append(calls, c)
	}
	return calls, true
}

func readCall(v jsontext.Value) (c call, ok bool) {
	var members map[string]jsontext.Value
	if v.Kind() != '{' || json.Unmarshal(v, &members) != nil {
		return c, false
	}
	args, named := members["arguments"]
	if name := members["name"]; named && len(members) == 2 && name.Kind() == '"' {
		_ = json.Unmarshal(name, &c.name) // a string decodes
	} else if len(members) == 1 {
		for c.name, args = range members {
		}
	}
	c.args = string(args)
	if args.Kind() == '"' {
		_ = json.Unmarshal(args, &c.args)
	} else if args.Kind() != '{' {
		return c, false
	}
	return c, c.name != ""
}

// quote is a text of unknown origin in a message, bounded.
func quote(text string) string { return strconv.Quote(clip.Bytes(text, 100)) }
