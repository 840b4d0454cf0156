package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/providers"
)

// MaxBytes bounds one raw output, and one line of --jsonl, in bytes.
const MaxBytes = 4 << 20

// Lines judges one output per line of standard input. A line that cannot
// be read is reported and does not keep the others from being judged; one that
// is too long ends the reading. valid says that every output is contract-valid.
func Lines(stdin io.Reader, to, stderr io.Writer, tools *tool.Set) (valid bool, err error) {
	in := bufio.NewScanner(stdin)
	in.Buffer(make([]byte, 0, 64<<10), MaxBytes)
	out := bufio.NewWriter(to)
	number, judged, bad := 0, 0, 0
	valid = true
	for in.Scan() {
		number++
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		l, err := readOutputLine(in.Bytes())
		if err != nil {
			bad++
			_, _ = fmt.Fprintf(stderr, "cupel: standard input:%d: %v\n", number, err)
			continue
		}
		judged++
		v := Output(l.output, l.cutOff, tools)
		v.Line, v.ID = number, l.id
		valid = valid && v.ContractValid
		if err := Write(out, v, ""); err != nil {
			return false, err
		}
	}
	err = in.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("longer than %d MiB", MaxBytes>>20)
	}
	if err != nil {
		err = exit.Usage(fmt.Errorf("standard input:%d: %w", number+1, err))
	}
	switch {
	case err != nil:
	case bad > 0:
		err = exit.Usage(fmt.Errorf("standard input: %d of %d outputs could not be read", bad, bad+judged))
	case judged == 0:
		err = exit.Usage(errors.New("standard input holds no output"))
	}
	return valid, errors.Join(out.Flush(), err)
}

// outputLine is one line of --jsonl.
type outputLine struct {
	output string
	id     json.RawMessage
	cutOff bool
}

// finishes are the reasons a model can have for stopping.
var finishes = []providers.Finish{"", providers.FinishStop, providers.FinishLength, providers.FinishTools, providers.FinishRefusal, providers.FinishOther}

// readOutputLine reads a JSON string, or an object that carries one. Further
// keys of the object are ignored: logs have many.
func readOutputLine(line []byte) (outputLine, error) {
	var l outputLine
	if !utf8.Valid(line) {
		return l, errors.New("not valid UTF-8")
	}
	switch bytes.TrimSpace(line)[0] {
	case '"':
		if err := json.Unmarshal(line, &l.output); err != nil {
			return l, fmt.Errorf("not JSON: %w", err)
		}
		return l, nil
	case '{':
	default:
		return l, errors.New(`not a JSON string, nor an object {"output": "…"}`)
	}
	var fields map[string]json.RawMessage // keys are matched exactly
	if err := json.Unmarshal(line, &fields); err != nil {
		return l, fmt.Errorf("not JSON: %w", err)
	}
	output, ok := fields["output"]
	if !ok {
		return l, errors.New(`the object has no "output"; an output that is an object itself goes into a JSON string`)
	}
	var text *string
	if err := json.Unmarshal(output, &text); err != nil || text == nil {
		return l, errors.New(`"output" must be a string`)
	}
	var finish providers.Finish
	if value, ok := fields["finish"]; ok {
		if err := json.Unmarshal(value, &finish); err != nil || !slices.Contains(finishes, finish) {
			return l, fmt.Errorf(`"finish" must be one of %q`, finishes[1:])
		}
	}
	return outputLine{output: *text, id: bytes.Clone(fields["id"]), cutOff: finish == providers.FinishLength}, nil
}
