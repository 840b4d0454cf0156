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

// TestView starts the viewer as users do, opens its page by a browser that only notes its
// argument, and ends it by Ctrl-C.
func TestView(t *testing.T) {
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > "+opened), 0o700))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "view", "--listen", "127.0.0.1:0", dir)
	cmd.Args[0] = "cupel" // which this binary is by that name: see TestMain
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

func TestViewed(t *testing.T) {
	base := t.TempDir()
	runs, other := filepath.Join(base, "runs"), filepath.Join(base, "other")
	for _, dir := range []string{filepath.Join(runs, "01A"), filepath.Join(other, "02B")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o600))
	}
	t.Chdir(base)
	for arg, want := range map[string][2]string{
		"": {"runs", "/"}, "other": {"other", "/"}, "01A": {runs, "/run/01A/"}, "01": {runs, "/run/01A/"}, "latest": {runs, "/run/01A/"}, "other/02B": {other, "/run/02B/"}, filepath.Join(other, "02B"): {other, "/run/02B/"},
	} {
		cfg := config.Config{}
		cfg.Runs = "runs"
		var args []string
		if arg != "" {
			args = []string{arg}
		}
		page, err := viewed(&cfg, args)
		require.NoError(t, err, arg)
		require.Equal(t, want, [2]string{cfg.Runs, page}, arg)
	}
	_, err := viewed(&config.Config{}, []string{"absent"})
	require.ErrorContains(t, err, "absent")
}
