package all

import (
	"strings"

	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/bedrock"
	"github.com/cupel-eval/cupel/providers/cohere"
	"github.com/cupel-eval/cupel/providers/gemini"
	"github.com/cupel-eval/cupel/providers/internal/wire"
	"github.com/cupel-eval/cupel/providers/ollama"
	"github.com/cupel-eval/cupel/providers/openai"
	"github.com/cupel-eval/cupel/providers/responses"
	"github.com/cupel-eval/cupel/providers/tgi"
)

// Wires returns the name of the wire that each provider speaks, such as
// "anthropic-messages", in a fresh map.
func Wires() map[string]string {
	m := Versions()
	for provider, version := range m {
		m[provider], _, _ = strings.Cut(version, "/")
	}
	return m
}

// UsageFields returns what becomes of each number of a provider's usage object, by
// the name of the wire, in a fresh map.
func UsageFields() map[string][]wire.UsageField {
	m := map[string][]wire.UsageField{}
	for version, fields := range map[string][]wire.UsageField{
		anthropic.Version: anthropic.UsageFields(),
		bedrock.Version:   bedrock.UsageFields(),
		cohere.Version:    cohere.UsageFields(),
		gemini.Version:    gemini.UsageFields(),
		ollama.Version:    ollama.UsageFields(),
		openai.Version:    openai.UsageFields(),
		responses.Version: responses.UsageFields(),
		tgi.Version:       tgi.UsageFields(),
	} {
		wire, _, _ := strings.Cut(version, "/")
		m[wire] = fields
	}
	return m
}
