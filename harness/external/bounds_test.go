package external

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// An episode of as many requests as the proxy takes fits on a cassette, with its record.
func TestRequestsFitOnACassette(t *testing.T) {
	require.Less(t, proxy.MaxRequests+1, cassette.MaxInteractions)
}

// A transcript says what an agent did wrong and left behind, with the end of its standard error.
func TestUpdates(t *testing.T) {
	require.Empty(t, Record{End: End{Answer: "1"}}.updates())
	limited := Call{Model: &ModelCall{Limited: true}}
	got := Record{Calls: []Call{limited, {Model: &ModelCall{}}, limited}, End: End{
		Failure: "the command ended with exit status 3", Stderr: strings.Repeat("é", maxSaid) + "boom",
		Leftover: "a process", Hosts: []string{"a.example", "b.example"}, Late: 3,
	}}.updates()
	require.Len(t, got, 5)
	require.Equal(t, "the command ended with exit status 3", got[0].Status)
	require.Regexp(t, "^…é+boom$", got[0].Content)
	require.Equal(t, []agent.Update{
		{Phase: "agent", Status: "a process"}, {Phase: "agent", Status: "tried to reach other hosts: a.example, b.example"},
		{Phase: "agent", Status: "requests after its end, which got status 410: 3"},
		{Phase: "agent", Status: "2 of its requests lacked an output limit and got one"},
	}, got[1:])
	require.Equal(t, []agent.Update{{Phase: "agent", Status: "wrote to standard error", Content: "x"}}, Record{End: End{Stderr: "x"}}.updates())
}

// Two candidates that are one service take turns, too.
func TestTurnsOfOneService(t *testing.T) {
	var h Hosts
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	s := settings.Settings{HTTP: settings.HTTP{URL: "http://127.0.0.1:1/"}, Correlate: settings.ByNothing}
	a, err := h.host("a", s)
	require.NoError(t, err)
	b, err := h.host("b", s)
	require.NoError(t, err)
	require.NotNil(t, a.turn)
	require.Same(t, a.turn, b.turn)
}

// The folder of a run is removed at its end, and one that a killed process left by the next run.
func TestTemporaryFolders(t *testing.T) {
	temp, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(temp, link) != nil { // Windows does not let everyone make one
		link = temp
	}
	t.Setenv("TMPDIR", link)
	t.Setenv("TMP", temp) // of Windows
	left := filepath.Join(temp, "cupel-agents-LEFT", "episode")
	require.NoError(t, os.MkdirAll(left, 0o700))
	var h Hosts
	host, err := h.host("a", settings.Settings{Exec: settings.Exec{Command: []string{"true"}}})
	require.NoError(t, err)
	require.DirExists(t, host.Folder)
	require.Equal(t, temp, filepath.Dir(host.Folder), "a command sees its folder without links")
	require.NoDirExists(t, left)
	require.NoError(t, h.Close())
	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, entries)
}
