package catalogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/store"
)

// runOf writes a run folder.
func runOf(t *testing.T, id string, edit func(*manifest.Manifest)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), id)
	require.NoError(t, os.Mkdir(dir, 0o777))
	m := manifest.Manifest{
		Format: manifest.Format, RunID: id, Status: "complete", Mode: "live", Suite: "counts", Trials: 1,
		Tasks: []manifest.Task{{ID: "G01"}}, Candidates: []manifest.Candidate{{Name: "strong", Provider: "p", Planned: 1}},
	}
	if edit != nil {
		edit(&m)
	}
	key := ledger.Key{RunID: id, EpisodeID: "e", Suite: "counts", TaskID: "G01", Candidate: "strong", Provider: "p", Trial: 1}
	rows := ledger.Rows{Episodes: []ledger.Episode{{Key: key, Status: "answered", Solved: m.Status == "complete", Steps: 1}}, Turns: []ledger.Turn{{Key: key, Turn: 1, Role: "main"}}}
	require.NoError(t, ledger.Write(dir, m, rows))
	for name, text := range map[string]string{"limits.jsonl": "{}\n", "report/index.html": "made again", ".lock": ""} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

func newCatalogue(t *testing.T) (Catalogue, *counting) {
	s := &counting{Store: store.Folder(t.TempDir())}
	return Catalogue{Store: s, Address: "s3://evals/nightly", Folder: t.TempDir()}, s
}

// counting counts puts and gets, and fails puts on request.
type counting struct {
	store.Store
	puts, gets int
	fail       func(name string) error
}

func (c *counting) Put(ctx context.Context, name string, body io.ReadSeeker, was store.Revision) (store.Revision, error) {
	c.puts++
	if c.fail != nil {
		if err := c.fail(name); err != nil {
			return store.None, err
		}
	}
	return c.Store.Put(ctx, name, body, was)
}

func (c *counting) Get(ctx context.Context, name string) (io.ReadCloser, store.Object, error) {
	c.gets++
	return c.Store.Get(ctx, name)
}

func TestPushAndFetch(t *testing.T) {
	c, s := newCatalogue(t)
	dir := runOf(t, "run01", nil)
	require.NoError(t, c.Push(t.Context(), dir))
	var names []string
	for o, err := range s.List(t.Context(), "") {
		require.NoError(t, err)
		names = append(names, o.Name)
	}
	require.Equal(t, []string{"run01/episodes.parquet", "run01/limits.jsonl", "run01/run.json", "run01/tool_calls.parquet", "run01/turns.parquet"}, names)
	puts := s.puts
	require.NoError(t, c.Push(t.Context(), dir))
	require.Equal(t, puts, s.puts, "nothing is sent twice")

	for _, name := range []string{"run01", "run", "latest"} {
		to, err := c.Fetch(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(c.Folder, "runs", "run01"), to)
		m, rows, err := harness.ReadRun(to)
		require.NoError(t, err)
		require.Equal(t, "run01", m.RunID)
		for _, err := range rows {
			require.NoError(t, err)
		}
	}
	gets := s.gets
	_, err := c.Fetch(t.Context(), "run01")
	require.NoError(t, err)
	require.Equal(t, gets+1, s.gets, "only the seal is read again")

	_, err = c.Fetch(t.Context(), "absent")
	require.ErrorContains(t, err, `no run "absent" in s3://evals/nightly; store one with: cupel-fleet push RUN s3://evals/nightly`)
	require.Equal(t, exit.BadUsage, exit.Code(err))
}

// "latest" is the newest run of a whole suite, as among folders.
func TestLatest(t *testing.T) {
	c, _ := newCatalogue(t)
	for i, edit := range []func(*manifest.Manifest){nil, nil, func(m *manifest.Manifest) { m.Shard = "1/2" }} {
		require.NoError(t, c.Push(t.Context(), runOf(t, fmt.Sprint("night", 9-i), edit)))
		time.Sleep(15 * time.Millisecond)
	}
	for name, want := range map[string]string{"latest": "night8", "previous": "night9", "latest-any": "night7", "night9": "night9"} {
		dir, err := c.Fetch(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, filepath.Base(dir), name)
	}
	_, err := c.Fetch(t.Context(), "night")
	require.ErrorContains(t, err, "ambiguous")
}

// An upload that fails at any file is not seen by readers, and can be repeated.
func TestPushIsRepeated(t *testing.T) {
	c, s := newCatalogue(t)
	dir := runOf(t, "run01", nil)
	for n := range 5 {
		left := n
		s.fail = func(name string) error {
			if left--; left < 0 {
				return fmt.Errorf("put %s: %w", name, store.ErrUnavailable)
			}
			return nil
		}
		require.ErrorIs(t, c.Push(t.Context(), dir), store.ErrUnavailable)
		_, err := c.Fetch(t.Context(), "run01")
		require.Error(t, err, "after %d files", n)
	}
	s.fail = nil
	require.NoError(t, c.Push(t.Context(), dir))
	_, err := c.Fetch(t.Context(), "run01")
	require.NoError(t, err)
}

// A partial run is replaced by the complete one, and that is never replaced.
func TestCompleteRunsStay(t *testing.T) {
	c, _ := newCatalogue(t)
	partial := runOf(t, "run01", func(m *manifest.Manifest) { m.Status = "partial" })
	require.NoError(t, c.Push(t.Context(), partial))
	first, err := c.Fetch(t.Context(), "run01")
	require.NoError(t, err)
	require.NoError(t, c.Push(t.Context(), runOf(t, "run01", nil)))
	again, err := c.Fetch(t.Context(), "run01")
	require.NoError(t, err)
	require.Equal(t, first, again)
	m, err := manifest.Read(again)
	require.NoError(t, err)
	require.Equal(t, "complete", m.Status, "what was staged is replaced")
	require.ErrorContains(t, c.Push(t.Context(), partial), "has another run of this id, which is complete")

	running := runOf(t, "run02", func(m *manifest.Manifest) { m.Status = "running" })
	require.ErrorContains(t, c.Push(t.Context(), running), "has not ended")
}

// A file that the store has lost or changed is found by its seal.
func TestDamagedInTheStore(t *testing.T) {
	for name, damage := range map[string]func(s store.Store) error{
		"a table is lost": func(s store.Store) error { return s.Delete(context.Background(), "run01/turns.parquet") },
		"a table is changed": func(s store.Store) error {
			_, err := s.Put(context.Background(), "run01/turns.parquet", bytes.NewReader([]byte("PAR1")), store.Any)
			return err
		},
		"the seal is changed": func(s store.Store) error {
			_, err := s.Put(context.Background(), "run01/run.json", bytes.NewReader([]byte(`{"format":1}`)), store.Any)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newCatalogue(t)
			require.NoError(t, c.Push(t.Context(), runOf(t, "run01", nil)))
			require.NoError(t, damage(s))
			dir, err := c.Fetch(t.Context(), "run01")
			if err == nil {
				_, rows, open := harness.ReadRun(dir)
				err = open
				if open == nil {
					for _, e := range rows {
						err = errors.Join(err, e)
					}
				}
			}
			require.Error(t, err)
		})
	}
}

// The runs before one are staged, those nearest to it.
func TestFetchBefore(t *testing.T) {
	c, _ := newCatalogue(t)
	for _, id := range []string{"run05", "run02", "run04", "run01", "run03"} {
		require.NoError(t, c.Push(t.Context(), runOf(t, id, nil)))
	}
	require.NoError(t, c.FetchBefore(t.Context(), "run04", 2))
	staged, err := filepath.Glob(filepath.Join(c.Folder, "runs", "*"))
	require.NoError(t, err)
	require.Len(t, staged, 2)
	require.Equal(t, "run02", filepath.Base(staged[0]))
	require.Equal(t, "run03", filepath.Base(staged[1]))
}

// stage calls Stage as the program does.
func stage(t *testing.T, h Host, verb string, baseline []string, args ...string) ([]string, []string, error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	cmd := &cobra.Command{Use: verb}
	cmd.SetContext(t.Context())
	var list []string
	cmd.Flags().StringSliceVar(&list, "baseline", nil, "")
	for _, b := range baseline {
		require.NoError(t, cmd.Flags().Set("baseline", b))
	}
	err := h.Stage(cmd, args)
	return args, list, err
}

func TestStage(t *testing.T) {
	objects := store.Folder(t.TempDir())
	var out bytes.Buffer
	h := Host{Stderr: &out, Stores: map[string]func(string, func(string) (string, bool)) (store.Store, error){
		"s3": func(string, func(string) (string, bool)) (store.Store, error) { return objects, nil },
	}}
	dir := runOf(t, "run01", nil)
	require.NoError(t, h.Push(t.Context(), dir, ""))
	require.NoError(t, h.Push(t.Context(), dir, "s3://evals/nightly/"))
	require.Equal(t, "stored as s3://evals/nightly/run01\n", out.String())

	args, baselines, err := stage(t, h, "compare", []string{"s3://evals/nightly/run01", "here"}, "s3://evals/nightly/latest:strong", "latest")
	require.NoError(t, err)
	require.Regexp(t, `/runs/run01:strong$`, args[0])
	require.Equal(t, "latest", args[1])
	require.Regexp(t, `/runs/run01$`, baselines[0])
	require.Equal(t, "here", baselines[1])

	_, _, err = stage(t, h, "gate", nil, "s3://evals")
	require.ErrorContains(t, err, "does not name a run: write s3://BUCKET/PREFIX/RUN")
	args, _, err = stage(t, h, "tape", nil, "s3://evals/x/y")
	require.NoError(t, err)
	require.Equal(t, "s3://evals/x/y", args[0], "a verb that does not read runs in stores")

	_, _, err = stage(t, Host{}, "gate", nil, "s3://evals/nightly/latest")
	require.ErrorContains(t, err, "s3://evals/nightly is in a store, which cupel does not read; use cupel-fleet in its place")
	require.Equal(t, exit.BadUsage, exit.Code(err))
	for _, bad := range []string{"nightly", "gs://evals"} {
		err = h.Push(t.Context(), dir, bad)
		require.Equal(t, exit.BadUsage, exit.Code(err), err)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "turns.parquet")))
	h.Stores["s3"] = func(string, func(string) (string, bool)) (store.Store, error) { return nil, store.ErrDenied }
	err = h.Push(t.Context(), dir, "s3://evals/nightly")
	require.ErrorIs(t, err, store.ErrDenied)
	require.ErrorContains(t, err, "store it later with: cupel-fleet push "+dir+" s3://evals/nightly")
}
