package anthropic

import (
	"strconv"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// isPlain reports whether a request is text alone, not streamed, without a format or
// tools: that of a turn by contract.
func (r *request) isPlain() bool {
	for i := range r.Messages {
		if _, text := r.Messages[i].Content.(string); !text {
			return false
		}
	}
	return len(r.Messages) > 0 && r.Version == "" && r.Model != "" && len(r.Stop)+len(r.Tools) == 0 && !r.Stream &&
		r.OutputConfig == nil && r.ToolChoice == nil && wire.IsPlainFloat(r.Temperature)
}

// AppendJSON implements wire.Appender.
func (r request) AppendJSON(b []byte) ([]byte, bool) {
	if !r.isPlain() {
		return b, false
	}
	b = append(wire.AppendString(append(b, `{"model":`...), r.Model), `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(r.MaxTokens), 10)
	if r.System != "" {
		b = wire.AppendString(append(b, `,"system":`...), r.System)
	}
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(append(b, `{"role":`...), m.Role), `,"content":`...)
		b = append(wire.AppendString(b, m.Content.(string)), '}')
	}
	return append(wire.AppendFloat(append(b, ']'), "temperature", r.Temperature), '}'), true
}
