// Package build decides what follows from each submit of a workflow and each verdict on
// it: whether it is to be verified, repaired, or given up. The same failure is never
// repaired twice.
package build

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/orchestrator/transition"
)

// Phase is where a work item is.
type Phase string

// The phases.
const (
	Building  Phase = "building"
	Verifying Phase = "verifying"
	Repairing Phase = "repairing"
	Done      Phase = "done"
	Blocked   Phase = "blocked"
)

// The verdicts that may be reported; each is an event, too.
const (
	Verified       = "verified"
	NeedsPatch     = "needs_patch"
	NeedsRebuild   = "needs_rebuild"
	TriggerOnly    = "trigger_only"
	NeedsUserInput = "needs_user_input"
	FailedTerminal = "failed_terminal"
)

// Verdicts are all of them.
var Verdicts = []string{Verified, NeedsPatch, NeedsRebuild, TriggerOnly, NeedsUserInput, FailedTerminal}

// Why an item is blocked, beside a verdict.
const (
	PreSaveBudget      = "pre_save_submit_budget_exhausted"
	PostSaveBudget     = "post_submit_budget_exhausted"
	DuplicateSignature = "duplicate_failure_signature"
)

// Events that are not verdicts.
const (
	open             = "open"
	submitFailed     = "submit_failed"
	submitBudget     = "submit_budget"
	saved            = "saved"
	savedUntestable  = "saved_untestable"
	repairBudget     = "repair_budget"
	duplicateFailure = "duplicate_signature"
)

// Bounds of submits.
const (
	maxFirstSubmits  = 3 // that fail before the first is saved
	maxRepairSubmits = 2 // after it
)

// Items is the state machine of a work item. An event without an edge changes nothing.
var Items = transition.Table{
	{From: "", Event: open, To: "building"},
	{From: "building", Event: submitFailed, To: "building"},
	{From: "building", Event: submitBudget, To: "blocked"},
	{From: "building", Event: saved, To: "verifying"},
	{From: "building", Event: savedUntestable, To: "done"},
	{From: "building", Event: NeedsUserInput, To: "blocked"},
	{From: "verifying", Event: saved, To: "verifying"},
	{From: "verifying", Event: submitFailed, To: "verifying"},
	{From: "verifying", Event: savedUntestable, To: "done"},
	{From: "verifying", Event: Verified, To: "done"},
	{From: "verifying", Event: TriggerOnly, To: "done"},
	{From: "verifying", Event: NeedsPatch, To: "repairing"},
	{From: "verifying", Event: NeedsRebuild, To: "repairing"},
	{From: "verifying", Event: duplicateFailure, To: "blocked"},
	{From: "verifying", Event: repairBudget, To: "blocked"},
	{From: "verifying", Event: NeedsUserInput, To: "blocked"},
	{From: "verifying", Event: FailedTerminal, To: "blocked"},
	{From: "repairing", Event: submitFailed, To: "repairing"},
	{From: "repairing", Event: repairBudget, To: "blocked"},
	{From: "repairing", Event: saved, To: "verifying"},
	{From: "repairing", Event: savedUntestable, To: "done"},
	{From: "repairing", Event: NeedsUserInput, To: "blocked"},
}

// Verification is the record of a run that verified a saved workflow.
type Verification struct {
	Attempted   bool   `json:"attempted"`
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId,omitempty"`
	Status      string `json:"status,omitempty"`
	Evidence    string `json:"evidence,omitempty"`
	VerifiedAt  string `json:"verifiedAt,omitempty"`
	// Signature is that of the failure, where a verdict gives none.
	Signature string `json:"-"`
}

// Item is one workflow that is built.
type Item struct {
	ID, WorkflowID string
	Phase          Phase
	// Why says why a blocked item is: a code, then what is needed.
	Why string
	// Verification is that of what was saved last; its zero value says that there is none.
	Verification Verification

	run, verified int // saves so far, and the one that was verified last
	failed        int // submits before the first save
	repairs       int // submits after a verdict
	signatures    []string
	moved         func(transition.Edge) // for tests; may be nil
}

// Action is what is to be done next with an item.
type Action struct {
	// Do is continue, verify, patch, rebuild, done, blocked or stale.
	Do string
	// Detail is the failed node and the diagnosis of a repair, or why the item is blocked.
	Detail string
}

func (i *Item) move(event string) bool {
	e, ok := Items.Find(string(i.Phase), event)
	if !ok {
		return false
	}
	i.Phase = Phase(e.To)
	if i.moved != nil {
		i.moved(e)
	}
	return true
}

func (i *Item) block(event, why string) Action {
	if !i.move(event) {
		return i.stale()
	}
	i.Why = why
	return Action{"blocked", why}
}

func (i *Item) stale() Action {
	return Action{"stale", fmt.Sprintf("the work item is %s; this changes nothing", i.Phase)}
}

// Saved takes a submit that was saved. A workflow that cannot be run by hand is not
// verified.
func (i *Item) Saved(workflowID string, testable bool) Action {
	if i.Phase == Done || i.Phase == Blocked {
		return i.stale()
	}
	if i.Phase == Repairing {
		i.repairs++
	}
	i.WorkflowID, i.Verification = workflowID, Verification{}
	i.run++
	if !testable {
		i.move(savedUntestable)
		return Action{Do: "done"}
	}
	i.move(saved)
	return Action{Do: "verify"}
}

// SubmitFailed takes a submit with faults.
func (i *Item) SubmitFailed() Action {
	switch i.Phase {
	case Building:
		if i.failed++; i.failed >= maxFirstSubmits {
			return i.block(submitBudget, PreSaveBudget)
		}
	case Repairing:
		if i.repairs++; i.repairs >= maxRepairSubmits {
			return i.block(repairBudget, PostSaveBudget)
		}
	}
	if !i.move(submitFailed) {
		return i.stale()
	}
	return Action{Do: "continue"}
}

// NeedsInput blocks the item until a person says what is missing.
func (i *Item) NeedsInput(what string) Action { return i.block(NeedsUserInput, what) }

// Verify records a run of what was saved last.
func (i *Item) Verify(v Verification) { i.Verification, i.verified = v, i.run }

// Report is a verdict.
type Report struct {
	Verdict, Signature, Node, Patch, Diagnosis string
}

// Take takes a verdict on the latest save. One on an older save, or in another phase, is
// stale and changes nothing; only that a person is needed may be found in any phase.
func (i *Item) Take(r Report) Action {
	if i.Phase != Verifying && r.Verdict != NeedsUserInput || i.verified > 0 && i.verified < i.run {
		return i.stale()
	}
	switch r.Verdict {
	case Verified, TriggerOnly:
		i.move(r.Verdict)
		return Action{Do: "done"}
	case NeedsUserInput, FailedTerminal:
		why := r.Verdict
		if r.Diagnosis != "" {
			why += ": " + r.Diagnosis
		}
		return i.block(r.Verdict, why)
	}
	if slices.Contains(i.signatures, r.Signature) {
		return i.block(duplicateFailure, DuplicateSignature)
	}
	if i.repairs >= maxRepairSubmits {
		return i.block(repairBudget, PostSaveBudget)
	}
	i.signatures = append(i.signatures, r.Signature)
	i.move(r.Verdict)
	do, node := "patch", r.Node
	if r.Verdict == NeedsRebuild {
		do = "rebuild"
	}
	if node == "" {
		node = "unknown"
	}
	return Action{do, fmt.Sprintf("node %s: %s %s", node, r.Diagnosis, r.Patch)}
}

// Book has the items of a thread, with ids wi_1, wi_2 and so on.
type Book struct {
	items []*Item
	moved func(transition.Edge)
}

// Open begins an item; workflowID is empty before the first save of a new workflow.
func (b *Book) Open(workflowID string) *Item {
	i := &Item{ID: fmt.Sprintf("wi_%d", len(b.items)+1), WorkflowID: workflowID, moved: b.moved}
	i.move(open)
	b.items = append(b.items, i)
	return i
}

// Find returns the item of that id; nil if there is none.
func (b *Book) Find(id string) *Item {
	for _, i := range b.items {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// Of returns the latest item of a workflow that is not done; nil if there is none.
func (b *Book) Of(workflowID string) *Item {
	for _, i := range slices.Backward(b.items) {
		if i.WorkflowID == workflowID && workflowID != "" && i.Phase != Done {
			return i
		}
	}
	return nil
}

// IDs are those of all items, in order.
func (b *Book) IDs() []string {
	var out []string
	for _, i := range b.items {
		out = append(out, i.ID)
	}
	return out
}
