package reports

// Detail is what was said in an episode, which its rows do not hold: it comes
// from executing the episode again from its cassette. All of it is untrusted text.
type Detail struct {
	// System is the system prompt of the first turn.
	System string
	Turns  []DetailTurn
	// Answer is what the user was told at the end.
	Answer string
}

// DetailTurn is one model call and what followed it.
type DetailTurn struct {
	// Turn and the other figures are in the ledger's row of the same number.
	Turn int
	// Prompt are the messages that no earlier turn of the episode was sent, in
	// order; System is set where it differs from the turn before.
	System string
	Prompt []Message
	// Output is the model's raw text; Failed the error in place of a reply.
	Output, Failed string
	Steps          []DetailStep
}

// Message is one message of a prompt.
type Message struct{ Role, Text string }

// DetailStep is a tool call with its observation, or a question with its reply.
type DetailStep struct {
	// Tool and Args, or a Question of the agent's to the user.
	Tool, Args, Question string
	// Result is the observation or the reply; Outcome is "ok", the kind of failure,
	// or "silence" of a user who did not reply.
	Result, Outcome string
}

// DetailOf returns the detail of an episode; ok is false where none can be had:
// a live run, a cassette that no longer fits. Write calls it from one goroutine,
// in the order of Report.Episodes.
type DetailOf func(e Episode) (d Detail, ok bool)
