//go:build unix

package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestRunsInAFolder stores runs in a folder, and works on them from there.
func TestRunsInAFolder(t *testing.T) { workOnRuns(t, "file://"+t.TempDir()) }

// TestRunsInAQueue does the same in the JetStream of a queue.
func TestRunsInAQueue(t *testing.T) {
	t.Setenv("CUPEL_QUEUE_TOKEN", "open-sesame-of-the-queue")
	url := make(chan string, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	t.Cleanup(func() { cancel(); serving.Wait() })
	serving.Go(func() {
		o := fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir(), Token: "open-sesame-of-the-queue"}
		if err := (natsfleet.Service{}).Serve(ctx, o, func(at string) { url <- at }); err != nil {
			t.Error(err)
		}
		close(url)
	})
	workOnRuns(t, <-url)
}

// TestRunsInS3 does the same in the bucket that CUPEL_TEST_S3 names: make s3.
func TestRunsInS3(t *testing.T) {
	address := os.Getenv("CUPEL_TEST_S3")
	if address == "" {
		t.Skip("needs a real S3 server: CUPEL_TEST_S3 is not set to s3://BUCKET, as make s3 does")
	}
	workOnRuns(t, address+"/runs"+time.Now().Format("150405.000000"))
}

var storedAs = regexp.MustCompile(`(?m)^stored as (\S+)$`)

func workOnRuns(t *testing.T, place string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	dir, store := t.TempDir(), place+"/store"
	env := append(os.Environ(), asProgram+"=1", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "HOME="+dir)
	run := func(args ...string) (string, int) {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = env
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, code := run("run", "--candidate", "strong", "--task", "G0*", "--quiet", "--store", store)
	require.Zero(t, code, out)
	require.Contains(t, out, "stored as "+store)
	for _, address := range []string{"sftp://host/x", "nats://127.0.0.1:1/x", "nats://a:sesame@127.0.0.1/x"} {
		out, code = run("run", "--task", "G01", "--runs", "none", "--store", address)
		require.NotZero(t, code, out)
		require.NotContains(t, out, "sesame")
		require.NoDirExists(t, filepath.Join(dir, "none"), "nothing was run")
	}
	out, code = run("gate", store+"/latest", "--candidate", "strong")
	require.Equal(t, 11, code, out)
	require.Contains(t, out, "8 of 8 episodes solved")
	out, code = run("gate", "file://store/latest")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "name an absolute folder, such as file:///mnt/evals")

	// Shards are merged from the store, which another machine has written.
	shards := place + "/shards"
	var named []string
	for _, shard := range []string{"1/2", "2/2"} {
		out, code = run("run", "--candidate", "strong", "--task", "G0*", "--quiet", "--shard", shard, "--runs", "elsewhere", "--store", shards)
		require.Zero(t, code, out)
		require.Regexp(t, storedAs, out)
		named = append(named, storedAs.FindStringSubmatch(out)[1])
	}
	out, code = run(append([]string{"merge", "--runs", "merged"}, named...)...)
	require.Zero(t, code, out)
	require.Contains(t, out, "merged  2 runs, 8 episodes")
	out, code = run("query", store+"/latest", "count(), share(solved)")
	require.Zero(t, code, out)
	require.Contains(t, out, "8 ")

	// A run is decided against a baseline in the store. Other verbs say that they need a folder.
	out, code = run("run", "--mode", "live", "--decide", "--max-trials", "1", "--baseline", store+"/latest", "--candidate", "strong", "--task", "G0*", "--quiet", "--runs", "decided")
	require.Zero(t, code, out)
	out, code = run("rescore", store+"/latest")
	require.Equal(t, 2, code, out)
	require.Contains(t, out, "is in a store, and this needs the folder of a run; docs/scale.md names the verbs of cupel-fleet that read stores")

	for says, args := range map[string][]string{"G01/strong": {"show", store + "/latest", "G01"}, "8 equal, 0 different": {"verify", store + "/latest"}} {
		out, code = run(args...)
		require.Zero(t, code, out)
		require.Contains(t, out, says)
	}

	testkit.Slow(t)
	// A trend has the earlier runs of the store.
	nights := place + "/nights"
	for range 2 {
		out, code = run("run", "--mode", "live", "--candidate", "strong", "--task", "G01", "--quiet", "--runs", "night", "--store", nights)
		require.Zero(t, code, out)
	}
	out, code = run("report", nights+"/latest", "-o", "-.json", "--past", "1")
	require.Zero(t, code, out)
	require.Contains(t, out, `"trend": [`)
	for says, args := range map[string][]string{
		"tasks: 1 stable pass": {"compare", nights + "/previous", nights + "/latest"},
		"count(episodes)":      {"query", nights + "/previous", nights + "/latest", "count(episodes)"},
		"regression: ":         {"gate", nights + "/latest", "--baseline", nights + "/previous"},
	} {
		out, _ = run(args...)
		require.Contains(t, out, says, args)
	}

	view := exec.Command(program, "view", nights+"/latest", "--listen", "127.0.0.1:0", "--no-open")
	view.Dir, view.Env = dir, env
	text, err := view.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, view.Start())
	defer func() { _ = view.Process.Kill(); _ = view.Wait() }()
	line, err := bufio.NewReader(text).ReadString('\n')
	require.NoError(t, err)
	page, err := http.Get(regexp.MustCompile(`http://\S+`).FindString(line))
	require.NoError(t, err)
	defer func() { _ = page.Body.Close() }()
	require.Equal(t, http.StatusOK, page.StatusCode, line)
}
