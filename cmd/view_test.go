//go:build unix

package cmd

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/config"
)

// TestView starts the viewer like a user, opens its page in a browser that only stores its argument,
// and ends it with Ctrl-C.
func TestView(t *testing.T) {
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > "+opened), 0o700))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "view", "--listen", "127.0.0.1:0", dir)
	cmd.Args[0] = "cupel" // under this name the test binary is cupel: see TestMain
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + dir, "DISPLAY=:9"}
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(line)
	resp, err := http.Get(address)
	require.NoError(t, err, line)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Contains(t, string(page), "There are no runs yet")
	if runtime.GOOS == "linux" {
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(opened)
			return err == nil && string(text) == address
		}, 30*time.Second, 10*time.Millisecond)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), "cupel view")
}

// TestViewCompares compares two candidates of a run in the viewer, from their cassettes.
func TestViewCompares(t *testing.T) {
	runs := t.TempDir()
	p := &process{stdout: io.Discard, stderr: io.Discard, now: time.Now, env: func(string) (string, bool) { return "", false }}
	p.args = []string{"run", "--runs", runs, "--task", "G0*"}
	execute(p)
	dirs, err := os.ReadDir(runs)
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	s, err := p.startViewer(t.Context(), config.Config{Runs: runs, Suite: p.cfg.Suite}, "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	get := func(query string) (int, string) {
		resp, err := http.Get(s.URL() + "/compare?" + query)
		require.NoError(t, err)
		page, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, string(page)
	}
	id := dirs[0].Name()
	code, page := get("baseline=" + id + ":weak&new=" + id + ":strong")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, `<a href="/">All runs</a>`)
	require.Contains(t, page, "USER_REQUEST:", "what was said is taken from the cassettes")
	code, page = get("baseline=" + id + "&new=" + id)
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, page, "The runs cannot be compared")
}
