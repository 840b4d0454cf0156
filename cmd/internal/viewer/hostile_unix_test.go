//go:build unix

package viewer

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

const (
	markup = `<script>alert(1)</script><img src=x onerror=alert(1)>"'>` + "\u202e\x1b[31m"
	secret = "hunter2"
)

// inHref matches the addresses and values of a run, which must be its id.
var inHref = regexp.MustCompile(` (href|value|id)="[^"]*"`)

// hostileFolder has a run in which every name is markup, damaged run folders of every kind, and an
// intact one.
func hostileFolder(t *testing.T) string {
	t.Helper()
	runs := t.TempDir()
	m, rows := night("good", 1, 9)
	addRun(t, runs, m, rows, true)

	m, rows = night("<img src=x onerror=alert(1)>\u202e"+secret, 2, 9)
	m.Suite, m.Tasks[0].ID, m.Candidates[0].Name = markup+secret, markup+secret, markup+secret
	for i := range rows.Episodes {
		rows.Episodes[i].Suite, rows.Turns[i].Suite = m.Suite, m.Suite
		if rows.Episodes[i].Candidate == "strong" {
			rows.Episodes[i].Candidate, rows.Turns[i].Candidate = m.Candidates[0].Name, m.Candidates[0].Name
		}
		if rows.Episodes[i].TaskID == "G00" {
			rows.Episodes[i].TaskID, rows.Turns[i].TaskID = m.Tasks[0].ID, m.Tasks[0].ID
		}
	}
	addRun(t, runs, m, rows, false)
	m.RunID = "running"
	addRunning(t, runs, m, rows)

	put := func(path string, content []byte) {
		path = filepath.Join(runs, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	put("empty/run.json", nil)
	put("text/run.json", []byte("no JSON "+markup+secret))
	put("deep/run.json", []byte(strings.Repeat("[", 100_000)))
	put("format/run.json", []byte(`{"format": 9}`))
	put("unsealed/run.json", []byte(`{"format": 3, "run_id": "unsealed"}`))
	huge, err := os.Create(filepath.Join(runs, "empty", "huge"))
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(1<<40))
	require.NoError(t, huge.Close())
	for _, name := range []string{"huge", "fifo", "folder", "report-fifo", "report-huge", "report-text"} {
		require.NoError(t, os.MkdirAll(filepath.Join(runs, name), 0o755))
	}
	require.NoError(t, os.Rename(filepath.Join(runs, "empty", "huge"), filepath.Join(runs, "huge", "run.json")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(runs, "fifo", "run.json"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(runs, "folder", "run.json"), 0o755))
	for name, spoil := range map[string]func(file string) error{
		"report-fifo": func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"report-huge": func(file string) error {
			return os.WriteFile(file, []byte(`{"verdict": "`+strings.Repeat("x", 1<<20)), 0o600)
		},
		"report-text": func(file string) error { return os.WriteFile(file, []byte("<html>"), 0o600) },
	} {
		m, rows := night(name, 3, 9)
		addRun(t, runs, m, rows, true)
		for _, file := range []string{"report.json", "index.html"} {
			file = filepath.Join(runs, name, "report", file)
			require.NoError(t, os.Remove(file))
			require.NoError(t, spoil(file))
		}
	}
	m, rows = night("no-rows", 3, 9)
	addRun(t, runs, m, rows, false)
	require.NoError(t, os.WriteFile(filepath.Join(runs, "no-rows", "episodes.parquet"), []byte("PAR1"), 0o600))
	m, rows = night("journal-fifo", 3, 9)
	addRunning(t, runs, m, rows)
	journal := filepath.Join(runs, "journal-fifo", "journal", "episodes.log")
	require.NoError(t, os.Remove(journal))
	require.NoError(t, syscall.Mkfifo(journal, 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(runs, "journal-fifo", ".lock"), 0o600))
	return runs
}

// Damaged and foreign run folders are listed with their problems. They do not stop the viewer, and
// their content does not become markup.
func TestHostileFolder(t *testing.T) {
	runs := hostileFolder(t)
	s := serve(t, runs)
	begin := time.Now()
	page := s.page("/")
	entries, err := os.ReadDir(runs)
	require.NoError(t, err)
	require.Equal(t, len(entries), strings.Count(page, `<tr id="run-`), "every folder is listed")
	require.Equal(t, 8, strings.Count(page, "cannot be read:"), page)
	tame := func(path, body string) {
		for _, bad := range []string{"<script>alert", "<img", "\x1b"} {
			require.NotContains(t, body, bad, path)
		}
		for _, bad := range []string{secret, "\u202e"} {
			require.NotContains(t, inHref.ReplaceAllString(body, ""), bad, path)
		}
	}
	tame("/", page)
	for _, e := range entries {
		for _, file := range []string{"", "index.html", "report.json", "page.css"} {
			path := "/run/" + url.PathEscape(e.Name()) + "/" + file
			resp, body := s.get(path, nil)
			require.NotEqual(t, http.StatusInternalServerError, resp.StatusCode, path)
			if e.Name() != "good" && !strings.HasPrefix(e.Name(), "report") && file == "" && e.Name()[0] != '<' {
				tame(path, body)
			}
		}
	}
	require.Less(t, time.Since(begin), 20*time.Second)
	for _, id := range []string{"report-fifo", "report-huge", "report-text"} {
		require.Contains(t, s.page("/run/"+id+"/"), id, "rendered from the ledger")
	}
	resp, body := s.get("/run/no-rows/", nil)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, body, "episodes.parquet: cut short or not a Parquet file")
	resp, body = s.get("/run/report-fifo/index.html", nil)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, body, "a named pipe (FIFO)")
	unlock, err := ledger.Lock(filepath.Join(runs, "running"))
	require.NoError(t, err)
	defer unlock()
	tame("progress", s.page("/run/running/"))
}

// FuzzReportHead reads the beginning of any report.json.
func FuzzReportHead(f *testing.F) {
	f.Add([]byte(`{"verdict": "pass", "headline": "x", "run": {"ledger_digest": "d", "tasks": [{}]}, "candidates": [{"cost_nanousd": 1}, {"cost_nanousd": null}]}`))
	f.Add([]byte(`{"run": [], "candidates": 3}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		runs := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(runs, "a", "report"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(runs, "a", "report", "report.json"), text, 0o600))
		v := &viewer{Options: options(runs)}
		r := run{digest: "d"}
		v.addReport(&r, filepath.Join(runs, "a"))
		if !r.Reported {
			require.Equal(t, run{digest: "d"}, r)
		}
	})
}
