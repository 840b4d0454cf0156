package transcript

// Detail is what was said in an episode, which its rows do not hold: it comes
// from executing the episode again from its cassette. All of it is untrusted text,
// free of credentials and bounded: a text that was cut says how much is missing.
type Detail struct {
	// System is the system prompt of the first turn.
	System string
	// Turns are in the ledger's order.
	Turns []DetailTurn
	// Answer is what the user was told at the end.
	Answer string
	// Expected is what the task accepts, one demand a line.
	Expected []string
	// State is what changed in the state of the world, one line a change; empty if nothing
	// did.
	State string
	// More is how many turns were left out to keep the detail small.
	More int
	// Missing is the reason why there is no detail, such as "a live run stores no prompts or
	// replies". Many episodes share it.
	Missing string
}

// DetailTurn is one model call and what followed it.
type DetailTurn struct {
	// Turn and the other figures are in the ledger's row of the same number.
	Turn int
	// System is set where it differs from the turn before's. Prompt are the messages
	// with lines that no earlier turn of the episode was sent, in order.
	System string
	Prompt []Message
	// Output is the model's raw text; Failed the error in place of a reply.
	Output, Failed string
	// Calls are the tool calls of the reply itself, in its order: also those that
	// became no step because the strategy answers them itself.
	Calls []DetailCall
	// Updates are what the strategy said of its progress after the turn, or before it
	// where it is the first.
	Updates []DetailUpdate
	Steps   []DetailStep
}

// DetailCall is a tool call as the model wrote it.
type DetailCall struct{ Tool, Args string }

// DetailUpdate says that a phase of the strategy reached a status.
type DetailUpdate struct{ Phase, Status, Content string }

// Message is one message of a prompt: the lines that no earlier turn was sent.
// Same are the others, which were left out.
type Message struct {
	Role, Text string
	Same       int
}

// DetailStep is a tool call with its observation, or a question with its reply.
type DetailStep struct {
	// Tool and Args, or a Question of the agent's to the user.
	Tool, Args, Question string
	// Result is the observation or the reply; Outcome is "ok", the kind of failure,
	// or "silence" of a user who did not reply.
	Result, Outcome string
}
