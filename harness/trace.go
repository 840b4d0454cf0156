package harness

import (
	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
)

// Trace is one thing that happened in an episode, with the payloads the ledger
// leaves out. Exactly one of the groups is set. All text is untrusted.
type Trace struct {
	// Turn, Call and Answer are a model call; Err is set if it failed.
	Turn   *ledger.Turn
	Call   *providers.Call
	Answer *providers.Reply
	Err    error
	// Tool and Result are a tool call; Asked is the turn that asked for it, 0 if none
	// did.
	Tool   *agent.CallTool
	Result *tool.Result
	Asked  int
	// Question and Reply are an exchange with the user; Silent: nobody answered.
	Question, Reply string
	Silent          bool
	// Update tells what the strategy is at.
	Update *agent.Update
	// Finish ends the episode; Outcome is what its checks look at.
	Finish  *agent.Finish
	Outcome *goldens.Outcome
}
