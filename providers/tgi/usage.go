package tgi

import (
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// counts are among the other details. Only streams of newer servers report the
// length of the input. With best_of the server makes several texts and sends one.
type counts struct {
	GeneratedTokens json.RawMessage `json:"generated_tokens,omitempty"`
	InputLength     json.RawMessage `json:"input_length,omitempty"`
	BestOf          []others        `json:"best_of_sequences,omitempty"`
}

type others struct {
	GeneratedTokens json.RawMessage `json:"generated_tokens,omitempty"`
}

// fields account for the numbers of the details.
var fields = wire.NewFields(append(append([]wire.UsageField{
	{Path: "input_length", Column: "tokens_in"},
	{Path: "generated_tokens", Column: "tokens_out"},
	{Path: "best_of_sequences[].generated_tokens", Column: "tokens_out", Reason: "beside generated_tokens"},
}, tokenFields("")...), tokenFields("best_of_sequences[].")...)...)

// tokenFields are the numbers of one text and its tokens.
func tokenFields(path string) (list []wire.UsageField) {
	list = []wire.UsageField{{Path: path + "seed", Reason: "not a count"}}
	for _, tokens := range []string{"prefill[]", "tokens[]", "top_tokens[][]"} {
		list = append(list, wire.UsageField{Path: path + tokens + ".id", Reason: "not a count"}, wire.UsageField{Path: path + tokens + ".logprob", Reason: "not a count"})
	}
	return list
}

// UsageFields say what becomes of each number in the details of a reply of this wire.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

// count sets the usage. There are no classes of tokens besides the two. Without a
// length of the input an incomplete report does not count as usage, but its counts are kept. The counts
// have no object of their own: RawUsage collects them, numbers as they came.
func (c counts) count(b *wire.Builder) {
	raw, err := json.Marshal(c)
	if err != nil || string(raw) == "{}" {
		return
	}
	b.Usage(raw, fields, func(raw json.RawMessage) (u providers.Usage, ok bool, err error) {
		var counts struct {
			Output *wire.Count `json:"generated_tokens"`
			Input  *wire.Count `json:"input_length"`
			BestOf []struct {
				Output wire.Count `json:"generated_tokens"`
			} `json:"best_of_sequences"`
		}
		if err := wire.Unmarshal(raw, &counts); err != nil {
			return u, false, err
		}
		u.Input, u.Output = counts.Input.Value(), counts.Output.Value()
		for _, more := range counts.BestOf {
			u.Output += int64(more.Output)
		}
		b.Reply.Usage = u
		return u, counts.Input != nil && counts.Output != nil, nil
	})
}
