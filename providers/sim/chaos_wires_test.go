package sim

import (
	"bytes"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// suffered requests a stream of text and a call, with or without a fault.
func suffered(t *testing.T, g wireClient, name string) (*httptest.ResponseRecorder, [][]byte) {
	t.Helper()
	a := asked{model: Probe, stream: true, turns: []utterance{user("say Let me see what there is to see.\ncall get {\"a\":\"b c\"}")}}
	if !g.noTools {
		a.tools = []string{"get"}
	}
	g.header = append(slices.Clone(g.header), "X-Client-Request-Id", "shown")
	if name != "" {
		g.header = append(g.header, ChaosHeader, name)
	}
	w := g.send(t, Handler(Config{Seed: 1}), a)
	c := &captured{header: w.Header()}
	c.body.Write(w.Body.Bytes())
	return w, c.frames()
}

// TestChaosOnEveryWire checks that the stream of each API has the fault that Does
// describes, and no other.
func TestChaosOnEveryWire(t *testing.T) {
	whole := func(frames [][]byte) string { return string(slices.Concat(frames...)) }
	for _, g := range wireClients() {
		if strings.Contains(g.name, " ") {
			continue // another address of the same wire
		}
		_, calm := suffered(t, g, "")
		require.Greater(t, len(calm), 3, g.name)
		end := endFrame(calm)
		for name, check := range map[string]func(t *testing.T, frames [][]byte){
			"end-early": func(t *testing.T, frames [][]byte) {
				require.Less(t, len(frames), len(calm))
				require.Equal(t, whole(calm[:len(frames)]), whole(frames))
				require.Empty(t, framesWith(frames, endWords))
			},
			"no-finish": func(t *testing.T, frames [][]byte) {
				require.Equal(t, whole(calm[:end]), whole(frames))
			},
			"half-arguments": func(t *testing.T, frames [][]byte) {
				require.Equal(t, whole(calm[:len(frames)]), whole(frames))
				require.LessOrEqual(t, len(frames), end)
				if len(framesWith(calm[:end], argsWords)) > 0 {
					require.NotEmpty(t, framesWith(frames, argsWords), "it ends before the arguments")
				}
			},
			"bad-frame": func(t *testing.T, frames [][]byte) {
				require.Len(t, frames, len(calm)+1)
				bad := slices.IndexFunc(frames, func(f []byte) bool { return bytes.Contains(f, []byte(`{"a": frame}`)) })
				require.Positive(t, bad)
				require.Equal(t, whole(calm), whole(slices.Delete(frames, bad, bad+1)))
			},
			"error-midstream": func(t *testing.T, frames [][]byte) {
				said := frames[len(frames)-1]
				require.Equal(t, whole(calm[:len(frames)-1]), whole(frames[:len(frames)-1]))
				require.Regexp(t, `(?i)overloaded|server_error|unavailable`, string(said))
			},
			"duplicate-finish": func(t *testing.T, frames [][]byte) {
				require.Len(t, frames, len(calm)+1)
				require.Equal(t, whole(calm[:end+1]), whole(frames[:end+1]))
				require.NotEmpty(t, framesWith(frames[end+1:end+2], endWords))
				require.Equal(t, whole(calm[end+1:]), whole(frames[end+2:]))
			},
			"oversized": func(t *testing.T, frames [][]byte) {
				long := slices.IndexFunc(frames, func(f []byte) bool { return len(f) >= oversize })
				require.Positive(t, long)
				require.Len(t, frames, len(calm)+1)
				require.Equal(t, whole(calm), whole(slices.Delete(frames, long, long+1)))
			},
			"no-done": func(t *testing.T, frames [][]byte) {
				require.NotContains(t, whole(frames), "[DONE]")
				require.Equal(t, strings.ReplaceAll(whole(calm), "data: [DONE]\n\n", ""), whole(frames))
			},
			"rechunk":    func(t *testing.T, frames [][]byte) { require.Equal(t, whole(calm), whole(frames)) },
			"slow-drip":  func(t *testing.T, frames [][]byte) { require.Equal(t, whole(calm), whole(frames)) },
			"slow-start": func(t *testing.T, frames [][]byte) { require.Equal(t, whole(calm), whole(frames)) },
		} {
			t.Run(g.name+"/"+name, func(t *testing.T) {
				w, frames := suffered(t, g, name)
				require.Equal(t, name, w.Header().Get(ChaosHeader))
				check(t, frames)
			})
		}
	}
}

// TestFillersMeanNothing checks that without the fillers, the stream equals the one
// without a fault.
func TestFillersMeanNothing(t *testing.T) {
	for _, g := range wireClients() {
		if strings.Contains(g.name, " ") {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			calm, frames := suffered(t, g, "")
			kept, _ := suffered(t, g, "keepalive")
			require.GreaterOrEqual(t, kept.Body.Len(), calm.Body.Len())
			body := kept.Body.String()
			for _, filler := range []string{": keep-alive\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n", ": keep-alive\n\n"} {
				body = strings.ReplaceAll(body, filler, "")
			}
			if strings.Contains(calm.Header().Get("Content-Type"), "ndjson") {
				require.Equal(t, len(frames)-1, strings.Count(body, "\n\n"), "a blank line between any two")
				body = strings.ReplaceAll(body, "\n\n", "\n")
			}
			require.Equal(t, calm.Body.String(), body)
		})
	}
}

// TestTheSameRequestFaresTheSame checks that the drawn fault depends only on the seed
// and the request.
func TestTheSameRequestFaresTheSame(t *testing.T) {
	chaotic := func(seed int64, id string) string {
		g := wireClients()[0]
		g.header = append(slices.Clone(g.header), "X-Client-Request-Id", id)
		w := g.send(t, chaos(seed, []faultRate{{chaos: Chaoses()[slices.IndexFunc(Chaoses(), func(c Chaos) bool { return c.Name == "empty" })], rate: 0.5}}, Handler(Config{Seed: 1})), asked{model: Probe, turns: []utterance{user("say hi")}})
		return w.Header().Get(ChaosHeader)
	}
	fates := map[string]int{}
	for i := range 60 {
		id := strings.Repeat("x", i)
		require.Equal(t, chaotic(1, id), chaotic(1, id))
		fates[chaotic(1, id)]++
	}
	require.Len(t, fates, 2, "half of them fare ill")
	require.InDelta(t, 30, fates["empty"], 15)
}
