// Package sim simulates models behind a real HTTP server: it answers a request in
// the format of OpenAI Chat Completions or Responses, Anthropic Messages, Gemini,
// Bedrock Converse, Ollama, TGI or Cohere with a faithful reply, stream or error
// in the same format.
//
// The models follow the playbooks in Config.Books: they find the solution of the request
// in their prompt and do what it does next, from what the prompt shows alone, with slips
// at the rates documented in internal/model, drawn from a seeded stream. So the same
// request with the same X-Client-Request-Id under the same seed gets the same bytes. They
// do not read expectations and worlds.
//
// They choose by the prompt what to return: the next contract object; calls of the
// available tools, several in one turn except for the weakest, and an answer, a question or a
// refusal as text or by the special tool for it; the same in the text protocol (Thought,
// Action, Action Input, Observation, Final Answer); a plan for create_task; the work on
// one step of a plan; or a summary. Any other prompt gets a sentence that says so.
//
// A format and a tool that must be called, as each wire asks for them, leave out the
// slips they rule out. Requests are refused where the real servers refuse them.
//
// Another model, Probe, follows the script in its prompt, on any wire.
//
// Everything is labelled: the served names begin with "sim-", and the OpenAI
// system_fingerprint is "simulated". Token counts are estimates from the length
// of the text, not the output of any tokenizer.
package sim

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// Config configures the simulated models. The zero value is usable: seed 0, no latency, loopback only.
type Config struct {
	// Seed makes another, equally reproducible set of mistakes and latencies.
	Seed int64
	// Latency scales the latencies of the models, which are slept for
	// real: 1 sleeps them as documented, 0 answers immediately. It must be finite
	// and not negative.
	Latency float64
	// AllowRemote lets Start listen on addresses other than loopback. Anyone who
	// can reach the port can then use it: it asks for no key.
	AllowRemote bool
	// Chaos lets the server misbehave: "NAME[=RATE],…", of the names that Chaoses
	// lists, or all. Empty means only where a request asks for it with
	// ChaosHeader.
	Chaos string
	// Limit refuses what comes too fast, and states in the headers of every reply what is
	// left: "rpm=N,tpm=N,burst=N", requests and tokens a minute and the most requests
	// in a burst, of which the last is the first unless given. Empty limits nothing.
	Limit string
	// Books are the playbooks that the models follow: a prompt whose request one of them
	// has is answered by its solution.
	Books []*playbook.Book
	// Now is the clock of Limit; nil means time.Now.
	Now func() time.Time
}

// Handler serves every wire by POST at its own addresses, which are these, where /v1 may be
// missing. Besides it serves /v1/embeddings, the lists of models that clients ask for
// (/v1/models, /v1beta/models, /api/tags, /api/show, /api/version) and GET /healthz,
// and answers HEAD:
//
//	/v1/chat/completions  /v1/responses          OpenAI
//	/v1/messages  /v1/messages/count_tokens      Anthropic
//	/v1beta/models/M:generateContent             Gemini, also :streamGenerateContent and
//	                                             :countTokens, under /v1 and as Vertex AI has it
//	/model/M/converse  /model/M/converse-stream  Bedrock
//	/api/chat                                    Ollama
//	/generate  /generate_stream                  TGI, also under /models/M
//	/v2/chat                                     Cohere
//
// It is safe for concurrent use. It remembers what Responses and threads of Messages
// refer to by id, 4,096 entries and 32 MiB of each, the newest ones, and the state of
// Config.Limit. An invalid Config.Latency counts as 0, an invalid Config.Chaos or
// Config.Limit as none; Start refuses them instead. Some of the chaos ends a request
// with a panic of http.ErrAbortHandler, as servers expect it.
func Handler(cfg Config) http.Handler {
	if cfg.Validate() != nil {
		cfg.Latency = 0
	}
	odds, _ := parseChaos(cfg.Chaos) // none if it is invalid
	return limit(cfg, chaos(cfg.Seed, odds, newMux(&service{cfg: cfg})))
}

// Models returns the names of the models that follow playbooks: sim-strong, sim-erratic and sim-weak, then
// sim-oracle, which makes no slips, and sim-nop, which does nothing. Probe is besides them. Each is also
// accepted, and always answered, with the served version, such as sim-strong-2026-11.
func Models() []string {
	names := make([]string, 0, len(model.Profiles))
	for _, p := range model.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if math.IsNaN(c.Latency) || math.IsInf(c.Latency, 0) || c.Latency < 0 {
		return fmt.Errorf("sim: latency scale %v: must be finite and not negative", c.Latency)
	}
	_, chaosErr := parseChaos(c.Chaos)
	_, limitErr := parseLimit(c.Limit)
	return errors.Join(chaosErr, limitErr)
}
