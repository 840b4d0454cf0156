package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// grounding is GroundingMetadata (ai.google.dev/api/generate-content): what Google's
// own tools looked up. What they read counts as tokens; each look-up may have a fee.
type grounding struct {
	Web       []string `json:"webSearchQueries"`
	Images    []string `json:"imageSearchQueries"`
	Retrieval []string `json:"retrievalQueries"`
	Chunks    []struct {
		Maps json.RawMessage `json:"maps"`
	} `json:"groundingChunks"`
}

// searches are the look-ups of a reply. Chunks of a stream repeat them.
type searches struct{ google, maps, retrieval int64 }

// add reads the metadata of a candidate. What it does not prove is not counted.
func (s *searches) add(raw json.RawMessage) {
	var g grounding
	_ = wire.Unmarshal(raw, &g) // what decodes of it
	s.google = max(s.google, int64(len(g.Web)+len(g.Images)))
	s.retrieval = max(s.retrieval, int64(len(g.Retrieval)))
	for _, c := range g.Chunks {
		if wire.Given(c.Maps) {
			s.maps = 1
		}
	}
}

// count puts the look-ups into a usage, in place of those known before.
func (s *searches) count(u *providers.Usage) {
	u.ServerTools = nil
	u.AddServerTool("google_maps", s.maps)
	u.AddServerTool("google_search", s.google)
	u.AddServerTool("retrieval", s.retrieval)
}

// isUnknown reports whether a part has none of the members that are read.
func (p part) isUnknown() bool {
	return p.Text == nil && p.Call == nil && p.Response == nil && p.Inline == nil && p.File == nil && p.Signature == "" &&
		p.ExecutableCode == nil && p.CodeExecutionResult == nil && p.ToolCall == nil && p.ToolResponse == nil
}

// leaveOut names the calls among the strange parts of a reply or a chunk.
func leaveOut(b *wire.Builder, body []byte) {
	type content struct {
		Candidates []struct {
			Content struct {
				Parts []map[string]json.RawMessage `json:"parts"`
			} `json:"content"`
		} `json:"candidates"`
	}
	chunks := make([]content, 1)
	if wire.Unmarshal(body, &chunks[0]) != nil && wire.Unmarshal(body, &chunks) != nil {
		return // unreachable: it was decoded
	}
	for _, chunk := range chunks {
		for _, c := range chunk.Candidates {
			for _, p := range c.Content.Parts {
				for _, name := range slices.Sorted(maps.Keys(p)) {
					if strings.HasSuffix(name, "Call") && !slices.Contains([]string{"functionCall", "toolCall"}, name) {
						b.LeftOut(name)
					}
				}
			}
		}
	}
}
