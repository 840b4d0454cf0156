package all

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/providertest"
	"github.com/cupel-eval/cupel/providers/sim"
)

// route is where the simulator serves an API: the path of its version segment, and the
// cases that the API lacks, with the reason.
type route struct {
	base string
	skip map[string]string
}

// served are the providers whose own API format the simulator serves.
var served = map[string]route{
	"anthropic": {"/v1", map[string]string{
		"json_object": "the Messages API has no mode of JSON without a schema",
	}},
	"bedrock": {"", map[string]string{
		"served model":    "Converse does not name the model",
		"json_object":     "Converse has no mode of JSON without a schema",
		"image URL":       "Converse takes bytes and addresses of S3 only",
		"reasoning usage": "Converse counts reasoning as output",
	}},
	"cohere": {"/v2", map[string]string{
		"served model":    "version 2 of the Chat API does not name the model",
		"finish refusal":  "the Chat API has no word for a refusal",
		"cache writes":    "the Chat API does not count them",
		"reasoning usage": "the Chat API counts reasoning as output",
		"chaos refused":   "the Chat API tells a refusal in the answer only",
	}},
	"gemini": {"/v1beta", map[string]string{
		"cache writes":  "Gemini bills the storage of explicit caches, and counts no writes",
		"chaos refused": "Gemini tells a refusal as a reason to stop, not as an error",
	}},
	"ollama": {"", map[string]string{
		"request id":      "Ollama gives none",
		"forced_tool":     "Ollama has no choice of tools",
		"image URL":       "Ollama takes bytes only",
		"finish refusal":  "Ollama has no word for a refusal",
		"cache reads":     "Ollama does not count them",
		"cache writes":    "Ollama does not count them",
		"reasoning usage": "Ollama counts reasoning as output",
		"chaos refused":   "Ollama refuses nothing",
	}},
	"openai": {"/v1", map[string]string{
		"reasoning": "Chat Completions counts reasoning and keeps it to itself",
	}},
	"openai-responses": {"/v1", map[string]string{
		"finish stop sequence": "the Responses API has no stop sequences",
	}},
	"tgi": {"", generateLacks()},
}

// generateLacks lists what the generate API lacks, because it completes a single text.
func generateLacks() map[string]string {
	m := map[string]string{
		"request id":           "the generate API gives none",
		"served model":         "the generate API does not name the model",
		"conversation":         "the generate API takes one text, which is no script of the probe",
		"reasoning":            "the generate API does not tell it apart",
		"json_object":          "the generate API has no mode of JSON without a schema",
		"json_schema":          "the generate API puts the system prompt into the text, which is no script of the probe",
		"forced_tool":          "the generate API has no tools",
		"finish stop sequence": "the stop sequence is part of the text",
		"finish refusal":       "the generate API has no word for a refusal",
		"usage":                "the generate API counts output only",
		"cache reads":          "the generate API does not count them",
		"cache writes":         "the generate API does not count them",
		"reasoning usage":      "the generate API does not count it",
		"unknown model":        "the address is the model",
		"chaos no-choices":     "the generate API counts output only",
		"chaos refused":        "the generate API refuses nothing",
	}
	for _, name := range []string{
		"tool call", "tool call without arguments", "text and tool call", "parallel calls", "serial", "tool choice none", "tool choice any",
		"tool choice named", "tool loop", "tool loop with parallel calls", "failed tool result",
	} {
		m[name] = "the generate API has no tools"
	}
	return m
}

// TestContract tests every provider against the simulator.
func TestContract(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(served)) {
		t.Run(name, func(t *testing.T) {
			providertest.RunServed(t, providertest.Served{
				New: Factories()[name], Base: served[name].base, Handler: sim.Handler(sim.Config{Seed: 1}), Model: "sim-probe",
				ChaosHeader: sim.ChaosHeader, Chaos: chaoses(), Skip: served[name].skip,
			})
		})
	}
}

// chaoses returns the faults of the simulator, in the form of the suite.
func chaoses() []providertest.Chaos {
	kinds := func(words []string) []fault.Kind {
		var list []fault.Kind
		for _, w := range words {
			list = append(list, fault.Kind(w))
		}
		return list
	}
	var list []providertest.Chaos
	for _, c := range sim.Chaoses() {
		list = append(list, providertest.Chaos{Name: c.Name, Whole: kinds(c.Whole), Stream: kinds(c.Stream), Wait: c.Wait, Paid: c.Paid})
	}
	return list
}

// TestEveryKindIsServed checks that the simulator can cause every kind of error.
func TestEveryKindIsServed(t *testing.T) {
	seen := map[fault.Kind]bool{}
	for _, c := range chaoses() {
		for _, k := range slices.Concat(c.Whole, c.Stream) {
			seen[k] = true
		}
	}
	require.ElementsMatch(t, []fault.Kind{
		fault.Auth, fault.RateLimit, fault.Quota, fault.ContextLength, fault.Refused, fault.InvalidRequest,
		fault.NotFound, fault.Overloaded, fault.TimedOut, fault.Transport, fault.Malformed,
	}, slices.Collect(maps.Keys(seen)))
}
