package recorder

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// conversation records two requests of an orchestrator and two of a builder, in turns. The
// answers are 1 to 4.
func conversation(t *testing.T) *Recorder {
	n := 0
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { n++; return says(fmt.Sprint(n))(nil) }))
	for range 2 {
		ask(t, r, of(t, "orchestrator", "next"))
		ask(t, r, of(t, "builder", "next"))
	}
	return saved(t, r)
}

// of is a request of a conversation, whose prompt says whose it is.
func of(t *testing.T, role, text string) *http.Request {
	return post(t, "https://api.test/", fmt.Sprintf(`{"system":%q,"text":%q}`, role, text))
}

func missOf(t *testing.T, back *Recorder, req *http.Request) *MissError {
	_, err := back.RoundTrip(req)
	var miss *MissError
	require.ErrorAs(t, err, &miss)
	return miss
}

// behaviours are those of recordings, by their ids.
var behaviours = map[string]func(t *testing.T){
	// Each role advances on its own: prompts of roles differ, so each meets its own recordings.
	"B134": func(t *testing.T) {
		back := conversation(t)
		for i, role := range []string{"builder", "builder", "orchestrator", "orchestrator"} {
			_, got := ask(t, back, of(t, role, "next"))
			require.Equal(t, []string{[]string{"2", "4", "1", "3"}[i]}, got)
		}
		require.Zero(t, back.Leftover())
	},
	// Another request than the recorded one: the error names both.
	"B135": func(t *testing.T) {
		miss := missOf(t, conversation(t), of(t, "builder", "stop"))
		require.Equal(t, []string{`text: "next" → "stop"`}, miss.Diff)
		require.Equal(t, 1, miss.Nearest)
	},
	// Nothing is left of a role, and a role that has no recording.
	"B136": func(t *testing.T) {
		back := conversation(t)
		for range 2 {
			ask(t, back, of(t, "builder", "next"))
		}
		require.Equal(t, []string{"all 2 recordings of this request were already used"}, missOf(t, back, of(t, "builder", "next")).Diff)
		require.Contains(t, missOf(t, back, of(t, "critic", "next")).Diff[0], `→ "critic"`)
	},
	// A later request is found. Differs on purpose: what was passed over can still be asked, and
	// is counted as left over if it is not, since no request is replayed that was not made.
	"B137": func(t *testing.T) {
		n := 0
		r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { n++; return says(fmt.Sprint(n))(nil) }))
		for _, text := range []string{"first", "second", "third"} {
			ask(t, r, of(t, "builder", text))
		}
		back := saved(t, r)
		_, got := ask(t, back, of(t, "builder", "third"))
		require.Equal(t, []string{"3"}, got)
		require.Equal(t, 2, back.Leftover())
		_, got = ask(t, back, of(t, "builder", "first"))
		require.Equal(t, []string{"1"}, got)
	},
	// What is asked is not changed by finding its recording.
	"B139": func(t *testing.T) {
		req := of(t, "builder", "next")
		before, body := req.Clone(t.Context()), req.Body
		ask(t, conversation(t), req)
		require.Equal(t, before.Header, req.Header)
		require.Equal(t, before.URL, req.URL)
		require.True(t, body == req.Body)
	},
	// A recording is read as it was written, and one that was edited is an error. TestB140 of
	// package ledger is the same of a run's journal, and says where an unknown record is.
	"B140": func(t *testing.T) {
		back := conversation(t)
		text := cassette.Encode(back.index.data)
		again, err := opened(text, Options{Mode: Replay})
		require.NoError(t, err)
		require.Equal(t, back.index.data, again.index.data)
		_, err = opened(bytes.Replace(text, []byte("builder"), []byte("Builder"), 1), Options{Mode: Replay})
		require.ErrorContains(t, err, "checksum mismatch")
	},
}

func TestBehaviours(t *testing.T) {
	for id, test := range behaviours {
		t.Run(id, test)
	}
}

// Each behaviour of the data is tested above, but for those that docs/behaviours.md lists.
func TestBehavioursAreComplete(t *testing.T) {
	for _, id := range testkit.Behaviours(t, "recorder") {
		require.True(t, behaviours[id] != nil || id == "B138", id)
	}
}
