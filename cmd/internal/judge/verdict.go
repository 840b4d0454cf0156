// Package judge judges raw model outputs by the JSON contract, without a run, and prints
// the verdicts as JSON.
package judge

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
)

// The shape of what contract check prints. Its names are part of the interface:
// docs/contract.md lists them. Lists are never null.
type (
	// Verdict is what is printed of one output.
	Verdict struct {
		Line int             `json:"line,omitempty"`
		ID   json.RawMessage `json:"id,omitempty"`
		outputVerdict
		// Repaired says that the repair pass made an output that can be acted on.
		Repaired bool `json:"repaired"`
		// Repair is nil where none is tried: one JSON object needs none, and an
		// output that was cut off gets none.
		Repair *outputRepair `json:"repair"`
	}
	outputVerdict struct {
		ValidJSON      bool                 `json:"valid_json"`
		Actionable     bool                 `json:"actionable"`
		ContractValid  bool                 `json:"contract_valid"`
		Disposition    contract.Disposition `json:"disposition"`
		Violations     []contract.Violation `json:"violations"`
		Warnings       []contract.Warning   `json:"warnings"`
		ArgsViolations []string             `json:"args_violations"`
		// Turn is nil unless the output can be acted on.
		Turn *contract.Turn `json:"turn"`
	}
	outputRepair struct {
		// Applied are the steps that changed the text. Without success it is
		// empty, and Text and After are nil.
		Applied []string       `json:"applied"`
		Text    *string        `json:"text"`
		After   *outputVerdict `json:"after"`
	}
)

// Output judges and repairs one raw output as the contract agent does.
func Output(raw string, cutOff bool, tools *tool.Set) Verdict {
	read := contract.Read(raw, cutOff, tools)
	out := Verdict{outputVerdict: verdictOf(read.Raw), Repaired: read.Repaired()}
	if read.Repair == nil {
		return out
	}
	out.Repair = &outputRepair{Applied: append([]string{}, read.Repair.Applied...)}
	if read.Repair.Text != "" {
		after := verdictOf(read.Verdict)
		out.Repair.Text, out.Repair.After = &read.Repair.Text, &after
	}
	return out
}

func verdictOf(v contract.Verdict) outputVerdict {
	out := outputVerdict{
		ValidJSON: v.ValidJSON, Actionable: v.Actionable, ContractValid: v.Valid, Disposition: v.Disposition,
		Violations: append([]contract.Violation{}, v.Violations...), Warnings: append([]contract.Warning{}, v.Warnings...),
		ArgsViolations: append([]string{}, v.ArgsViolations...),
	}
	if v.Actionable {
		out.Turn = &v.Turn
	}
	return out
}

// Write prints one verdict, on one line unless indented.
func Write(w io.Writer, v Verdict, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print the verdict: %w", err)
	}
	return nil
}
