package providers

import "encoding/json"

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool" // the answer to one tool call
)

// Message is one message of a conversation.
type Message struct {
	Role string
	Text string
	// Images precede Text; of users, and of tools where the wire takes them.
	Images []Image
	// Calls are the tool calls of an assistant's message.
	Calls []ToolCall
	// CallID and Name are the ID and the name of the call that a tool's message
	// answers; Failed says that the tool failed. A wire without a field for it
	// sends "error: " before Text.
	CallID, Name string
	Failed       bool
	// Continuation is that of the Reply an assistant's message represents. A wire
	// leaves out one that is not its own.
	Continuation json.RawMessage
}

// Image is a picture: Data with its media type, or a URL.
type Image struct {
	MediaType string // such as "image/png"
	Data      []byte
	URL       string
}

// Tool is an available function.
type Tool struct {
	// Name is 1 to 64 letters, digits, _ or -.
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, an object; empty means none are
	// taken. What a provider does not take of it comes back as a warning.
	Schema json.RawMessage
}

// ToolCall is a call of a tool by a model.
type ToolCall struct {
	// ID is unique among the calls of a reply; where the provider sends none it is
	// made up.
	ID   string
	Name string
	// Args are the arguments, the JSON text as the provider sent it: perhaps cut,
	// perhaps no JSON at all; {} for none.
	Args string
}

// Choice reports whether tools must be used.
type Choice struct {
	Kind ChoiceKind
	// Name is the tool of ChoiceNamed.
	Name string
}

// ChoiceKind is the kind of a Choice.
type ChoiceKind string

// The kinds of choice.
const (
	ChoiceAuto  ChoiceKind = ""      // the model decides
	ChoiceNone  ChoiceKind = "none"  // no tool
	ChoiceAny   ChoiceKind = "any"   // some tool
	ChoiceNamed ChoiceKind = "named" // the tool of that name
)

// Delta is a piece of a streamed reply.
type Delta struct {
	Kind DeltaKind
	// Text is text, reasoning, refusal or arguments; of DeltaCall the tool's name.
	Text string
	// Call is the index in Reply.Calls, of DeltaCall and DeltaArgs.
	Call int
}

// DeltaKind says what a Delta is a piece of.
type DeltaKind string

// The kinds of delta. DeltaCall begins a call, DeltaArgs continues its arguments.
const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaRefusal   DeltaKind = "refusal"
	DeltaCall      DeltaKind = "call"
	DeltaArgs      DeltaKind = "args"
)
