package openai

import "github.com/cupel-eval/cupel/providers/internal/wire"

// isPlain reports whether a request is text alone, not streamed, without a format or
// tools: that of a turn by contract.
func (r *request) isPlain() bool {
	for i := range r.Messages {
		m := &r.Messages[i]
		_, text := m.Content.(string)
		if !text || m.ToolCallID != "" || m.ReasoningContent != "" ||
			len(m.ToolCalls)+len(m.ReasoningDetails)+len(m.ExtraContent) > 0 {
			return false
		}
	}
	return len(r.Messages) > 0 && len(r.Stop)+len(r.Tools) == 0 && !r.Stream && r.StreamOptions == nil &&
		r.ResponseFormat == nil && r.ToolChoice == nil && r.ParallelToolCalls == nil &&
		!r.LogProbs && r.Seed == nil && r.RandomSeed == nil && wire.IsPlainFloat(r.Temperature)
}

// AppendJSON implements wire.Appender.
func (r request) AppendJSON(b []byte) ([]byte, bool) {
	if !r.isPlain() {
		return b, false
	}
	b = append(wire.AppendString(append(b, `{"model":`...), r.Model), `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(append(b, `{"role":`...), m.Role), `,"content":`...)
		b = append(wire.AppendString(b, m.Content.(string)), '}')
	}
	b = wire.AppendInt(append(b, ']'), "max_tokens", int64(r.MaxTokens))
	b = wire.AppendInt(b, "max_completion_tokens", int64(r.MaxCompletionTokens))
	return append(wire.AppendFloat(b, "temperature", r.Temperature), '}'), true
}
