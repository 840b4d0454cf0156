package main

import (
	"cmp"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/openai"
)

// newHouse is a provider: a custom server with OpenAI's Chat Completions API.
// A providers.Model that speaks another format sends its requests with o.HTTP, where
// the recorder is.
func newHouse(o providers.Options) (providers.Model, error) {
	o.BaseURL = cmp.Or(o.BaseURL, "http://127.0.0.1:8177/v1") // where mine sim serves the simulated models
	return openai.New(o)
}
