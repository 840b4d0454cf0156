package agent

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ending is how a loop ended.
type ending struct {
	// Status is Answered, Clarify, CannotProceed, Stopped or Failed.
	Status Status
	// Reason is why it was Stopped.
	Reason StopReason
	// Text is the answer, the open question or the reason; when Stopped, the last text.
	Text string
	// Value is the answer that the finisher accepted; nil otherwise.
	Value json.RawMessage
	// Err is the failure behind Failed. Unanswered says that a replay would not meet it,
	// so that nothing may be made of it.
	Err        error
	Unanswered bool
}

// ofEpisode says that the loop was stopped by a budget that all loops share.
func (e ending) ofEpisode() bool {
	switch e.Reason {
	case MaxSteps, MaxSeconds, MaxTokens, MaxCost:
		return true
	}
	return false
}

// problem says what went wrong, for the user. It is never empty.
func (e ending) problem() string {
	switch {
	case e.Status == CannotProceed:
		return "cannot proceed: " + oneLine(e.Text, maxData)
	case e.Status == Clarify:
		return "nobody answered the question: " + oneLine(e.Text, maxData)
	case e.Reason == FinalSchema:
		return "the model's output does not fit the required format"
	case e.Reason == MaxIterations:
		return "the iterations were used up before there was an answer"
	case e.Status == Stopped:
		return fmt.Sprintf("stopped: %s", e.Reason)
	}
	text := ""
	if e.Err != nil {
		text = oneLine(e.Err.Error(), maxData)
	}
	switch strings.ToLower(strings.TrimRight(text, ".: ")) {
	case "", "error":
		return "the model call failed and did not say why"
	}
	return text
}
