package all

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/providertest"
	"github.com/cupel-eval/cupel/providers/sim"
)

// served are the wires that the simulator serves in their own dialect: the path
// of the version segment, and the cases that the dialect lacks, with the reason.
var served = map[string]struct {
	base string
	skip map[string]string
}{
	"anthropic": {"/v1", map[string]string{
		"json_object": "the Messages API has no mode of JSON without a schema",
	}},
	"gemini": {"/v1beta", map[string]string{
		"cache writes":  "Gemini bills the storage of explicit caches, and counts no writes",
		"chaos refused": "Gemini tells a refusal as a reason to stop, not as an error",
	}},
	"openai-responses": {"/v1", map[string]string{
		"finish stop sequence": "the Responses API has no stop sequences",
	}},
	"openai": {"/v1", map[string]string{
		"reasoning":          "Chat Completions counts reasoning and keeps it to itself",
		"failed tool result": "a tool message has no mark of failure: its text has to say so",
	}},
}

// TestContract proves every wire against the simulator.
func TestContract(t *testing.T) {
	if !hasProbe() {
		t.Skip("the simulator has no probe")
	}
	for _, name := range slices.Sorted(maps.Keys(served)) {
		t.Run(name, func(t *testing.T) {
			factory := Factories()[name]
			if factory == nil {
				t.Skip("not linked")
			}
			providertest.RunServed(t, providertest.Served{
				New: factory, Base: served[name].base, Handler: sim.Handler(sim.Config{Seed: 1}), Model: "sim-probe",
				ChaosHeader: sim.ChaosHeader, Chaos: chaoses(), Skip: served[name].skip,
			})
		})
	}
}

// hasProbe asks the simulator for the model that the suite talks to.
func hasProbe() bool {
	w := httptest.NewRecorder()
	sim.Handler(sim.Config{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"sim-probe","messages":[{"role":"user","content":"say hi"}]}`)))
	return w.Code == http.StatusOK
}

// chaoses are those of the simulator, for the suite.
func chaoses() []providertest.Chaos {
	kinds := func(words []string) []providers.Kind {
		var list []providers.Kind
		for _, w := range words {
			list = append(list, providers.Kind(w))
		}
		return list
	}
	var list []providertest.Chaos
	for _, c := range sim.Chaoses() {
		list = append(list, providertest.Chaos{Name: c.Name, Whole: kinds(c.Whole), Stream: kinds(c.Stream), Wait: c.Wait, Paid: c.Paid})
	}
	return list
}

// TestEveryKindIsServed: the simulator can make a wire report any kind of error.
func TestEveryKindIsServed(t *testing.T) {
	seen := map[providers.Kind]bool{}
	for _, c := range chaoses() {
		for _, k := range slices.Concat(c.Whole, c.Stream) {
			seen[k] = true
		}
	}
	require.ElementsMatch(t, []providers.Kind{
		providers.Auth, providers.RateLimit, providers.Quota, providers.ContextLength, providers.Refused, providers.InvalidRequest,
		providers.NotFound, providers.Overloaded, providers.TimedOut, providers.Transport, providers.Malformed,
	}, slices.Collect(maps.Keys(seen)))
}
