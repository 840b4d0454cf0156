package contract

import "github.com/cupel-eval/cupel/agent/tool"

// Reading is what there is to act on in one output, and how it was found.
type Reading struct {
	// Verdict is the judgement to act on: of the repaired text if there is one, else
	// of the raw output.
	Verdict
	// Raw is the judgement of the output as it came, with the reasons why it was not
	// repaired: truncated or ambiguous.
	Raw Verdict
	// Repair is what the repair pass made of the output; nil if it was not tried.
	Repair *Repaired
}

// Read judges one raw output and repairs it if it is not a JSON object. cutOff says
// that the token limit cut the output off: then it is not repaired.
func Read(raw string, cutOff bool, tools *tool.Set) Reading {
	j := judge{v: Judge(raw, tools)}
	if j.v.ValidJSON {
		return Reading{Verdict: j.v, Raw: j.v}
	}
	if cutOff {
		j.v.Violations = nil
		j.violate(Truncated, "", fatal)
		return Reading{Verdict: j.v, Raw: j.v}
	}
	repaired := Repair(raw)
	if repaired.Ambiguous {
		j.violate(codeAmbiguous, "", fatal)
	}
	r := Reading{Verdict: j.v, Raw: j.v, Repair: &repaired}
	if repaired.Text != "" {
		r.Verdict = Judge(repaired.Text, tools)
	}
	return r
}

// Repaired reports whether the repair pass made an output that can be acted on.
func (r Reading) Repaired() bool { return r.Repair != nil && r.Actionable }
