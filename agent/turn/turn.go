// Package turn defines the roles and kinds of turns, which agents choose and ledgers store.
package turn

// Roles of a turn, as written in the ledger. A custom strategy may use any other word.
const (
	RoleMain     = "main"     // the turns of one conversation
	RoleRescue   = "rescue"   // a turn of the candidate's stronger model
	RoleFallback = "fallback" // a turn of the candidate's second model, after the first failed
	RolePlanner  = "planner"  // makes the plan
	RoleStep     = "step"     // works on one step of the plan
	// RoleCompress is not a turn of the main loop: it costs tokens, money and time, but
	// no step, and its output is not judged.
	RoleCompress = "compress"
)

// Kinds of a turn, as written in the ledger. A custom strategy may use any other word.
const (
	KindAct      = "act"      // acts on the request
	KindReflect  = "reflect"  // the model is informed that it repeats itself
	KindRescue   = "rescue"   // continues for a model that failed to act
	KindCompress = "compress" // asks for a summary of the log
	KindPlan     = "plan"     // asks for a plan
	KindFinal    = "final"    // asks again for a final answer that fits its schema
	KindConclude = "conclude" // the last turn when the context limit is reached: only an answer is left
)
