package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// counterSuite is completed with the command and the names of its environment, as JSON.
const counterSuite = `
name: counter
tools:
  - {name: add, description: Adds., schema: {type: object, properties: {by: {type: integer}}}, repeatable: true}
  - {name: environment, description: Tells., schema: {type: object}}
worlds: {w: {process: {command: %s, env: %s, timeout: 20s}}}
defaults: {world: w}
tasks:
  - {id: zero, request: "0", expect: {status: answered, state: [{path: n, is: 3}]}}
  - {id: one, request: "1", expect: {status: answered, unchanged: [n]}}
`

// counterOptions returns the options of a run of two tasks. The first one makes the
// given calls, or by default adds 1 and 2.
func counterOptions(t *testing.T, k process.Kind, calls ...tool.Call) harness.Options {
	t.Helper()
	command, err := json.Marshal(k.Command)
	require.NoError(t, err)
	env, err := json.Marshal(k.Env)
	require.NoError(t, err)
	text := fmt.Sprintf(counterSuite, command, env)
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(text)}}, t.TempDir(), nil)
	require.NoError(t, err)
	add := func(args string) tool.Call { return tool.Call{Name: "add", Args: json.RawMessage(args)} }
	if calls == nil {
		calls = []tool.Call{add(`{"by":1}`), add(`{"by":2}`)}
	}
	o := recordedOptions(suite, []conversation{{calls: calls, results: make([]string, len(calls)), ended: true}, {ended: true}})
	o.Mode, o.CassetteDir, o.Runs = recorder.Record, t.TempDir(), t.TempDir()
	return o
}

// episodes runs the tasks and returns their episodes by task.
func episodes(t *testing.T, o harness.Options) (all map[string]ledger.Episode, run string) {
	t.Helper()
	var mu sync.Mutex
	all = map[string]ledger.Episode{}
	o.Traced = func(rows ledger.EpisodeRows, _ []episode.Trace) {
		mu.Lock()
		defer mu.Unlock()
		all[rows.Episode.TaskID] = rows.Episode
	}
	res, err := harness.Run(t.Context(), o)
	require.NoError(t, err)
	return all, res.Manifest.RunID
}

// TestRunOfABrokenWorld checks that an episode whose world fails has no result and
// names the reason, and that a resumed run repeats in a new process the calls made
// before the failure.
func TestRunOfABrokenWorld(t *testing.T) {
	o := counterOptions(t, process.AsWorld("dies second"))
	o.LookupEnv = process.AsWorld("dies second").Lookup
	all, id := episodes(t, o)
	broken := all["zero"]
	require.True(t, broken.InfraError)
	require.Equal(t, "harness_error", broken.Status)
	require.Contains(t, broken.ErrorText, `tool add: the world's command "`)
	require.Contains(t, broken.ErrorText, `ended (exit status 7) before it answered call; run it by hand to see why`)
	require.True(t, all["one"].Solved)

	o.LookupEnv, o.Resume = process.AsWorld("plain").Lookup, id
	all, _ = episodes(t, o)
	require.Len(t, all, 1)
	require.True(t, all["zero"].Solved, all["zero"].ErrorText)
}

// TestRunIsReplayedWithoutTheCommand also checks that worlds that do not open are
// harness errors.
func TestRunIsReplayedWithoutTheCommand(t *testing.T) {
	o := counterOptions(t, process.AsWorld("plain"))
	o.LookupEnv = process.AsWorld("plain").Lookup
	recorded, _ := episodes(t, o)
	require.True(t, recorded["zero"].Solved)
	dir := o.CassetteDir

	o = counterOptions(t, process.Kind{Command: []string{"no-such-program"}, Env: []string{}})
	broken, _ := episodes(t, o)
	require.Len(t, broken, 2)
	for _, e := range broken {
		require.Equal(t, "harness_error", e.Status)
		require.Contains(t, e.ErrorText, `start the world's command "no-such-program"`)
	}
	o.Mode, o.Cassettes, o.Runs = recorder.Replay, os.DirFS(dir), ""
	replayed, _ := episodes(t, o)
	require.Len(t, replayed, 2)
	for i, e := range replayed {
		require.True(t, e.Solved, e.ErrorText)
		require.Equal(t, recorded[i].StateAfter, e.StateAfter)
		require.Equal(t, recorded[i].CassetteDigest, e.CassetteDigest)
	}
}

// TestCredentialIsWithheld checks that values passed to a command do not come back in
// its answers.
func TestCredentialIsWithheld(t *testing.T) {
	const secret = "a-secret-of-the-world"
	o := counterOptions(t, process.AsWorld(secret))
	_, err := harness.Run(t.Context(), o)
	require.ErrorContains(t, err, "task zero: the world's command ")
	require.ErrorContains(t, err, "needs the environment variable CUPEL_TEST_WORLD; set it, or take it out of process.env")

	o = counterOptions(t, process.AsWorld(secret), tool.Call{Name: "environment", Args: json.RawMessage(`{}`)})
	o.LookupEnv = process.AsWorld(secret).Lookup
	all, _ := episodes(t, o)
	require.Contains(t, all["zero"].ErrorText, "the answer of the world's command to /call holds a credential and is withheld; leave it out of the answer")
	require.NoError(t, filepath.WalkDir(o.CassetteDir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		require.NotContains(t, string(text), secret, name)
		return err
	}))
}

// TestStoppedRun checks that Ctrl-C ends a run whose world hangs.
func TestStoppedRun(t *testing.T) {
	o := counterOptions(t, process.AsWorld("hangs"))
	o.LookupEnv = process.AsWorld("hangs").Lookup
	ctx, cancel := context.WithCancel(t.Context())
	drain := make(chan struct{})
	o.Drain = drain
	time.AfterFunc(300*time.Millisecond, func() { close(drain) })
	begun := time.Now()
	res, err := harness.Run(ctx, o)
	cancel()
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	require.Less(t, time.Since(begun), 15*time.Second)
}
