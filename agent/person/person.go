// Package person defines what agents ask people for, and what people answer: approvals, plan
// reviews, questions and setups, as machines, scripted humans and ledgers have them.
package person

import (
	"context"
	"encoding/json"
)

// Kinds of requests.
const (
	Approval        = "approval"         // may this call run?
	PlanReview      = "plan_review"      // may this plan begin?
	Question        = "question"         // an open question, or a choice
	CredentialSetup = "credential_setup" // a credential of a type
	WorkflowSetup   = "workflow_setup"   // the parameters and credentials of one node
	HostAccess      = "host_access"      // may this host be read?
)

// Severities of requests.
const (
	Info        = "info"
	Warning     = "warning"
	Destructive = "destructive" // what it does cannot be undone
)

// What a person says.
const (
	Approve  = "approve"
	Deny     = "deny"
	Feedback = "feedback" // a plan is to be revised, as the text says
	Reply    = "answer"   // the text, or choices
	Select   = "select"   // one of the things offered, by the id or option in the text
	Skip     = "skip"     // continues without
)

// Kinds, Severities and Says list the words in the order in which messages show them.
var (
	Kinds      = []string{Approval, PlanReview, Question, CredentialSetup, WorkflowSetup, HostAccess}
	Severities = []string{Info, Warning, Destructive}
	Says       = []string{Approve, Deny, Feedback, Reply, Select, Skip}
)

// Request is what an agent asks a person for.
type Request struct {
	// Tool is the tool whose call asks; Kind and Severity are words of this package, and an
	// empty Severity is Info.
	Tool, Kind, Severity string
	// Message tells the person what is asked. It is untrusted.
	Message string
	// Payload is what the request is about as a JSON object, such as the arguments of the call;
	// nil for none. It is untrusted.
	Payload json.RawMessage
	// Options are the choices of a question; empty for a free text.
	Options []string
}

// Answer is what a person said. The zero Answer is none.
type Answer struct {
	// Say is a word of this package.
	Say string
	// Text is the feedback, the answer, or the id or option that was selected.
	Text string
	// Choices are the options chosen, of a question that offers some.
	Choices []string
}

// Approves reports whether the answer lets what was asked for happen: all but a denial, a skip
// and feedback do.
func (a Answer) Approves() bool { return a.Say == Approve || a.Say == Select || a.Say == Reply }

// kinds are the kinds of requests of tools that do not ask for approval.
var kinds = map[string]string{
	"plan": PlanReview, "ask-user": Question, "ask_user": Question,
	"setup-credentials": CredentialSetup, "setup-workflow": WorkflowSetup, "fetch-url": HostAccess,
}

// KindOf returns the kind of the requests that calls of a tool make.
func KindOf(tool string) string {
	if kind, ok := kinds[tool]; ok {
		return kind
	}
	return Approval
}

// Takes returns what a person may say to a request of a kind.
func Takes(kind string) []string {
	switch kind {
	case Approval:
		return []string{Approve, Deny}
	case PlanReview:
		return []string{Approve, Deny, Feedback}
	case Question:
		return []string{Reply, Select, Skip}
	}
	return []string{Approve, Deny, Select, Skip}
}

type answerKey struct{}

// NewContext returns the context of a call that a person answered for: once, or for each part of
// the call, in order.
func NewContext(ctx context.Context, said ...Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, said)
}

// FromContext returns what a person said to the requests of a call; nothing if no person was asked.
func FromContext(ctx context.Context) []Answer {
	said, _ := ctx.Value(answerKey{}).([]Answer)
	return said
}
