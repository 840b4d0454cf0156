package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers/fault"
)

// Dialect says how one service differs from OpenAI's own API.
type Dialect struct {
	// Name is the provider's name in the ledger and in errors.
	Name string
	// Base is the public address, up to and including the version segment, in which
	// {region} represents Options.Region. Empty means there is none: Options.BaseURL
	// is then required.
	Base string
	// Key is the environment variable that holds the key; Keyless says that none is
	// needed, as with servers on the user's machine.
	Key     string
	Keyless bool
	// KeyHeader carries the key as it is; empty means Authorization: Bearer.
	KeyHeader string
	// RequestID names the headers that carry the service's request id, besides
	// X-Request-Id and Request-Id.
	RequestID []string
	// MaxTokens and Seed are the names of these fields, where they are not
	// max_tokens and seed.
	MaxTokens, Seed string
	// Lacks is what the service does not take: it is left out with a warning.
	Lacks []Feature
	// Reasoning are the families of models that take less; OpenAI's own need no line.
	Reasoning []Family
	// Keeps are the fields of an assistant's message, besides content and calls, that
	// the service wants back in a loop of tool calls.
	Keeps []string
	// Codes are the classes of the service's own error codes.
	Codes map[string]fault.Kind
	// ReasoningApart reports that completion_tokens does not count reasoning, whether
	// total_tokens does or not.
	ReasoningApart bool
	// Searches reports that a reply with citations took a search that has a fee.
	Searches bool
	// ShortIDs reports that ids of calls must be nine letters or digits.
	ShortIDs bool
	// Alternate reports that two user messages in a row are refused: they are sent as one.
	Alternate bool
}

// Family is a family of models by what their names begin with, a vendor in front
// left out.
type Family struct {
	Prefix string
	// Except is a part of the names of members that do not belong; empty for none.
	Except string
	Lacks  []Feature
}

// Feature is a part of the wire.
type Feature string

// The features. Each is called what a warning calls it.
const (
	Temperature Feature = "temperature"
	SeedNumber  Feature = "seed"
	Stop        Feature = "stop"
	LogProbs    Feature = "logprobs"
	Tools       Feature = "tools"
	ToolChoice  Feature = "tool choice"        // any but auto
	NamedChoice Feature = "choice of one tool" // only that tool is then available
	Serial      Feature = "serial"             // parallel_tool_calls
	Images      Feature = "image"
	ImageURLs   Feature = "image URL"
	ObjectMode  Feature = "json_object"
	SchemaMode  Feature = "json_schema"
	StreamUsage Feature = "stream_options" // usage comes unasked, no warning
)

// region is the placeholder of the region in Base.
const region = "{region}"

// lacks reports whether the service does not take a feature.
func (d Dialect) lacks(f Feature) bool { return slices.Contains(d.Lacks, f) }

// LimitField is the name of the field that limits a model's output.
func (d Dialect) LimitField(model string) string {
	if d.MaxTokens == "" && reasons(model) {
		return "max_completion_tokens"
	}
	return cmp.Or(d.MaxTokens, "max_tokens")
}

// modelLacks is what a model does not take although its service does.
func (d Dialect) modelLacks(model string) []Feature {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if reasons(model) {
		if name[0] == 'o' { // parallel_tool_calls came with gpt-5
			return []Feature{Temperature, Stop, LogProbs, Serial}
		}
		return []Feature{Temperature, Stop, LogProbs}
	}
	for _, f := range d.Reasoning {
		if strings.HasPrefix(name, f.Prefix) && (f.Except == "" || !strings.Contains(name, f.Except)) {
			return f.Lacks
		}
	}
	return nil
}

// reasons reports whether a model is of OpenAI's reasoning families, o1, o3, o4
// and gpt-5, chat variants excepted: those refuse max_tokens, temperature, stop
// and logprobs. A vendor in front, as in openai/o3, is overlooked. Every other model,
// known or not, gets the classic fields, which compatible servers understand.
func reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, family := range []string{"o1", "o3", "o4", "gpt-5"} {
		rest, ok := strings.CutPrefix(name, family)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == '.') {
			return !strings.Contains(rest, "-chat")
		}
	}
	return false
}
