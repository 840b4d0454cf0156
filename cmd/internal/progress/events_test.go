package progress

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
)

// readEvents reads events, of which each line is an object.
func readEvents(t *testing.T, text string) (list []map[string]any, count map[string]int) {
	t.Helper()
	count = map[string]int{}
	for line := range strings.Lines(text) {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		require.Less(t, len(line), 32<<10)
		list = append(list, e)
		count[e["event"].(string)]++
	}
	return list, count
}

// Texts of models and providers are bounded and do not break lines.
func TestEventsAreBounded(t *testing.T) {
	var out strings.Builder
	e := &Events{out: &out}
	long := strings.Repeat("é\n\"\xff", 20_000)
	e.Watch(harness.Progress{RunID: "R"})
	e.Episode(harness.Progress{Last: ledger.Episode{Key: ledger.Key{TaskID: long, Candidate: long}, ErrorText: long}, Stopping: long})
	e.End(harness.Result{Manifest: manifest.Manifest{Stopped: long}}, model.Report{}, "", nil)
	list, count := readEvents(t, out.String())
	require.Equal(t, map[string]int{"start": 1, "episode": 1, "stopped": 1, "end": 1}, count)
	require.Contains(t, list[1]["error_text"], "é\n\"\uFFFD")

	out.Reset()
	err := (&Events{out: &out}).Close(exit.Usage(errors.New(long)))
	require.Equal(t, exit.BadUsage, exit.Code(err))
	list, _ = readEvents(t, out.String())
	require.Equal(t, "error", list[0]["event"])
	require.EqualValues(t, exit.BadUsage, list[0]["exit_code"])
}

func TestLimitEvents(t *testing.T) {
	var out strings.Builder
	e := &Events{out: &out, begun: true}
	at := time.Date(2026, 11, 1, 2, 3, 4, 0, time.UTC)
	e.Watch(harness.Progress{Change: &admission.Change{Provider: "p", Lane: 2, Limit: 4, Why: admission.Overloaded}})
	e.Watch(harness.Progress{Change: &admission.Change{Provider: "p", Lane: 2, Limit: 4, Why: admission.Header, Until: at, Gap: time.Millisecond}})
	e.Watch(harness.Progress{})
	require.Equal(t, `{"event":"limit","provider":"p","lane":2,"limit":4,"why":"overloaded","until":null,"gap_us":0}
{"event":"limit","provider":"p","lane":2,"limit":4,"why":"header","until":"2026-11-01T02:03:04Z","gap_us":1000}
`, out.String())
}

// Exactly one line ends the events, and an error while writing them fails the run.
func TestEventsEnd(t *testing.T) {
	var out strings.Builder
	e := &Events{out: &out}
	e.Idle("fresh", harness.ErrAllFresh)
	require.NoError(t, e.Close(nil))
	require.Error(t, e.Close(errors.New("too late for an event")))
	_, count := readEvents(t, out.String())
	require.Equal(t, map[string]int{"end": 1}, count)

	read, write := io.Pipe()
	require.NoError(t, read.CloseWithError(errors.New("no space left")))
	e = &Events{out: write}
	e.Watch(harness.Progress{})
	require.ErrorContains(t, e.Close(nil), "write events to standard output: no space left")
}
