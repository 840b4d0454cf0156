package gemini

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// TestSearches: a search that a reply proves is counted once, also if the chunks repeat
// it or it comes before the usage.
func TestSearches(t *testing.T) {
	const text, usage = `{"text":"a"}`, `"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1}`
	for name, c := range map[string]struct {
		grounding string
		want      map[string]int64
	}{
		"none":       {`{}`, nil},
		"null":       {`null`, nil},
		"no queries": {`{"groundingChunks":[{"web":{"uri":"u"}}],"webSearchQueries":[]}`, nil},
		"queries":    {`{"webSearchQueries":["a","b"],"searchEntryPoint":{}}`, map[string]int64{"google_search": 2}},
		"all":        {`{"webSearchQueries":["a"],"imageSearchQueries":["b"],"retrievalQueries":["c"],"groundingChunks":[{"maps":{"uri":"u"}},{"maps":{"uri":"v"}}]}`, map[string]int64{"google_maps": 1, "google_search": 2, "retrieval": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			candidate := `{"candidates":[{"content":{"parts":[` + text + `]},"finishReason":"STOP","groundingMetadata":` + c.grounding + `}]`
			for _, body := range []string{
				candidate + "," + usage + "}",
				"data: " + candidate + "}\n\ndata: " + candidate + "," + usage + "}\n\ndata: {" + usage + "}\n\n",
			} {
				got, complete, err := decode(body, true)
				require.NoError(t, err)
				require.True(t, complete)
				require.Equal(t, providers.Usage{Reported: true, Input: 5, Output: 1, ServerTools: c.want}, got.Usage)
			}
		})
	}
}

// TestCallsThatAreLeftOut: a part that is a call of an unknown kind is reported. Calls
// that Google executes itself are not calls for the agent.
func TestCallsThatAreLeftOut(t *testing.T) {
	for part, out := range map[string]string{
		`{"computerCall":{"name":"n"}}`: "computerCall", `{"executableCode":{"code":"1"}}`: "", `{"codeExecutionResult":{"output":"1"}}`: "",
		`{"toolCall":{"id":"t"}}`: "", `{}`: "", `{"videoMetadata":{}}`: "", `{"functionCall":{"name":"n"}}`: "",
	} {
		chunk := candidateOf(part, `,"finishReason":"STOP"`)
		for _, body := range []string{chunk, "[" + chunk + "]", "data: " + chunk + "\n\n"} {
			for _, asked := range []bool{false, true} {
				got, _, err := decode(body, asked)
				said := fmt.Sprint(err, got.Warnings)
				if out != "" {
					require.Contains(t, said, "does not read: "+out)
				} else {
					require.NotContains(t, said, "does not read", body)
				}
			}
		}
	}
}
