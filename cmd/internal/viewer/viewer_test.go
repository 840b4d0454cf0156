package viewer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// night returns a run of ten tasks with two candidates and a number of solved episodes.
func night(id string, day, solved int) (m manifest.Manifest, rows ledger.Rows) {
	m = manifest.Manifest{
		Format: manifest.Format, RunID: id, Status: "complete", Mode: "live", Suite: "counts", SuiteDigest: "s1", Trials: 1, Episodes: 20,
		Started:  time.Date(2026, 11, day, 3, 0, 0, 0, time.UTC).Format(time.RFC3339Nano),
		Outcomes: manifest.Outcomes{Solved: 2 * solved, Failed: 20 - 2*solved},
	}
	for i := range 10 {
		m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("G%02d", i), Title: "Task", Request: "How many?", Digest: "t"})
	}
	for _, name := range []string{"strong", "weak"} {
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: name, Agent: "contract", Provider: "openai", Model: "m-" + name, Planned: 10, Digest: name})
	}
	for i := range 20 {
		c := m.Candidates[i%2]
		cost := int64(1_500_000)
		key := ledger.Key{RunID: id, EpisodeID: fmt.Sprintf("e%02d", i), Suite: m.Suite, TaskID: m.Tasks[i/2].ID, Candidate: c.Name, Agent: "contract", Provider: c.Provider, Model: c.Model, Trial: 1}
		rows.Episodes = append(rows.Episodes, ledger.Episode{Key: key, Status: "answered", Solved: i/2 < solved, Steps: 1, CostNanoUSD: &cost})
		rows.Turns = append(rows.Turns, ledger.Turn{Key: key, Turn: 1, Role: "main", ContractValid: true, DurationUs: new(int64(1_000_000)), CostNanoUSD: &cost})
	}
	return m, rows
}

// addRun writes the folder of an ended run, with or without its report.
func addRun(t testing.TB, runs string, m manifest.Manifest, rows ledger.Rows, report bool) {
	t.Helper()
	dir := filepath.Join(runs, m.RunID)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, ledger.Write(dir, m, rows))
	if report {
		m, err := manifest.Read(dir) // with its digests
		require.NoError(t, err)
		require.NoError(t, reports.Write(dir, reports.Build(m, rows), nil))
	}
}

// addRunning writes the folder of a run in progress, with its finished episodes.
func addRunning(t testing.TB, runs string, m manifest.Manifest, rows ledger.Rows) {
	t.Helper()
	dir := filepath.Join(runs, m.RunID)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	m.Status, m.Outcomes, m.Episodes = manifest.Running, manifest.Outcomes{}, 0
	require.NoError(t, manifest.Write(dir, m))
	j, err := ledger.OpenJournal(dir, nil)
	require.NoError(t, err)
	for i := range rows.Episodes {
		_, err := j.Append(ledger.EpisodeRows{Episode: rows.Episodes[i], Turns: rows.Turns[i : i+1]})
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
}

// options returns the options for a folder. The page of a comparison has its parameters.
func options(runs string) Options {
	return Options{
		Runs:   runs,
		Redact: func(_, text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") },
		Now:    func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
		Compare: func(_ context.Context, w io.Writer, baseline, newRun, changed string) error {
			if changed == "keep" {
				return errors.New("tasks changed <b>\nsecond line with hunter2")
			}
			_, err := fmt.Fprintf(w, "<header class=\"wrap\">%s|%s|%s", baseline, newRun, changed)
			return err
		},
	}
}

// site is a viewer of a folder of runs.
type site struct {
	t   *testing.T
	url string
}

func serve(t *testing.T, runs string) site {
	t.Helper()
	s := httptest.NewServer(Handler(options(runs)))
	t.Cleanup(s.Close)
	return site{t, s.URL}
}

// get requests a path and returns the response.
func (s site) get(path string, edit func(*http.Request)) (resp *http.Response, body string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(s.t, err)
	if edit != nil {
		edit(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err = client.Do(r)
	require.NoError(s.t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	return resp, string(text)
}

// page requests a page that must exist.
func (s site) page(path string) string {
	s.t.Helper()
	resp, body := s.get(path, nil)
	require.Equal(s.t, http.StatusOK, resp.StatusCode, body)
	return body
}

func TestList(t *testing.T) {
	runs := t.TempDir()
	require.Contains(t, serve(t, filepath.Join(runs, "absent")).page("/"), "There are no runs yet")
	for day := 1; day <= 3; day++ {
		m, rows := night(fmt.Sprintf("run%02d", day), day, 10-day)
		if day == 2 {
			m.Suite = "desk"
		}
		addRun(t, runs, m, rows, day < 3)
	}
	require.NoError(t, os.Mkdir(filepath.Join(runs, "not a run"), 0o755))
	s := serve(t, runs)
	page := s.page("/")
	at := func(id string) int { return strings.Index(page, `id="run-`+id+`"`) }
	require.Less(t, at("run03"), at("run02"), "the newest first")
	require.Less(t, at("run02"), at("run01"))
	require.Positive(t, at("run03"))
	for _, want := range []string{"2026-11-01 03:00", "18 of 20", "$0.03", "inconclusive", "strong, weak", "3 runs", `href="/run/run01/"`, "<option>desk</option>"} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "not a run")
	_, third, _ := strings.Cut(page, `id="run-run03"`)
	third, _, _ = strings.Cut(third, "</tr>")
	require.NotContains(t, third, "chip inconclusive", "without a report the verdict is not known")

	for query, want := range map[string][]string{
		"?q=RUN02": {"run02"}, "?q=weak+11-03": {"run03"}, "?suite=counts": {"run03", "run01"}, "?suite=desk&q=run01": nil, "?q=%3Cscript%3E": nil, "?q=inconclusive+desk": {"run02"},
	} {
		page = s.page("/" + query)
		for _, id := range []string{"run01", "run02", "run03"} {
			require.Equal(t, strings.Contains(strings.Join(want, " "), id), at(id) > 0, "%s %s", query, id)
		}
		require.NotContains(t, page, "<script>")
	}
}

// A run that has ended since the last list is read again.
func TestListFollowsTheDisk(t *testing.T) {
	runs := t.TempDir()
	m, rows := night("run01", 1, 9)
	addRunning(t, runs, m, rows)
	s := serve(t, runs)
	require.Contains(t, s.page("/"), "interrupted", "no process is at work in it")
	unlock, err := ledger.Lock(filepath.Join(runs, "run01"))
	require.NoError(t, err)
	require.Contains(t, s.page("/"), ">running<")
	unlock()
	require.NoError(t, os.RemoveAll(filepath.Join(runs, "run01", "journal")))
	addRun(t, runs, m, rows, true)
	require.Contains(t, s.page("/"), ">complete<")
	require.NoError(t, os.RemoveAll(filepath.Join(runs, "run01")))
	require.Contains(t, s.page("/"), "There are no runs yet")
}

func TestReport(t *testing.T) {
	runs := t.TempDir()
	m, rows := night("run01", 1, 9)
	addRun(t, runs, m, rows, true)
	m.RunID = "run02"
	addRun(t, runs, m, rows, false)
	m, err := manifest.Read(filepath.Join(runs, "run01"))
	require.NoError(t, err)
	m2, rows2 := night("run03", 3, 2)
	addRun(t, runs, m2, rows2, false)
	require.NoError(t, reports.Write(filepath.Join(runs, "run03"), reports.Build(m, rows), nil), "the report of other rows")
	s := serve(t, runs)

	file, err := os.ReadFile(filepath.Join(runs, "run01", "report", "index.html"))
	require.NoError(t, err)
	static := s.page("/run/run01/")
	require.Equal(t, string(file), strings.Replace(static, backToList, "", 1))
	require.Contains(t, static, `<a href="/">All runs</a>`)
	require.Contains(t, s.page("/run/run01/tasks/G00.html"), `<a href="/">All runs</a>`)
	for name, kind := range map[string]string{
		"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript", "report.json": "application/json", "report.md": "text/plain", "junit.xml": "text/xml", "plots/success.svg": "image/svg",
	} {
		if name == "plots/success.svg" {
			found, err := filepath.Glob(filepath.Join(runs, "run01", "report", "plots", "*.svg"))
			require.NoError(t, err)
			name = "plots/" + filepath.Base(found[0])
		}
		resp, _ := s.get("/run/run01/"+name, nil)
		require.Equal(t, http.StatusOK, resp.StatusCode, name)
		require.True(t, strings.HasPrefix(resp.Header.Get("Content-Type"), kind), name)
		require.Contains(t, resp.Header.Get("Content-Security-Policy"), "sandbox", "it may be from anywhere")
	}
	for _, id := range []string{"run02", "run03"} {
		page := s.page("/run/" + id + "/")
		require.Contains(t, page, id, "rendered from the ledger")
		require.Contains(t, page, "run <code>cupel report "+filepath.Join(runs, id)+"</code>")
		require.Contains(t, page, `<a href="/">All runs</a>`)
		require.Contains(t, page, `id="transcripts"`)
	}
	for _, path := range []string{"/run/run01/absent.html", "/run/run01/run.json", "/run/run01/tasks", "/run/run01/tasks/", "/run/run01/.lock", "/run/absent/", "/run/run02/page.css", "/absent", "/assets/absent", "/run/"} {
		resp, _ := s.get(path, nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode, path)
	}
	resp, _ := s.get("/run/run01", nil)
	require.Equal(t, "/run/run01/", resp.Header.Get("Location"))
}

// Only regular files inside the folder are served.
func TestNoEscape(t *testing.T) {
	base := t.TempDir()
	runs := filepath.Join(base, "runs")
	m, rows := night("run01", 1, 9)
	addRun(t, runs, m, rows, true)
	addRun(t, filepath.Join(base, "elsewhere"), m, rows, true)
	secret := filepath.Join(base, "secret.html")
	require.NoError(t, os.WriteFile(secret, []byte("TOP SECRET"), 0o600))
	report := filepath.Join(runs, "run01", "report")
	require.NoError(t, os.Symlink(secret, filepath.Join(report, "link.html")))
	require.NoError(t, os.Symlink(base, filepath.Join(report, "up")))
	require.NoError(t, os.Symlink(filepath.Join(base, "elsewhere", "run01"), filepath.Join(runs, "run02")))
	s := serve(t, runs)
	for _, path := range []string{
		"/run/run01/link.html", "/run/run01/up/secret.html", "/run/run01/../../../secret.html", "/run/run01/..%2f..%2f..%2fsecret.html", "/run/..%2f/secret.html",
		"/run/%2e%2e/secret.html", "/run/..%2felsewhere%2frun01/", "/run/run02/", "/run/run02/index.html", "/run/%2f/secret.html", "/run/run01/%2e%2e/%2e%2e/%2e%2e/secret.html",
		"/run/./index.html", "/run/%2e/index.html", "/run/run01%00/", "/run/run01/index.html%00", "/assets/..%2fviewer.go", "/run/elsewhere/../run01/..%5c..%5csecret.html",
	} {
		resp, body := s.get(path, nil)
		require.NotContains(t, body, "TOP SECRET", path)
		require.NotEqual(t, http.StatusOK, resp.StatusCode, path)
	}
	require.Contains(t, s.page("/"), "not a folder of its own but a link")
	_, body := s.get("/run/run01/link.html", nil)
	require.NotContains(t, body, base, "no path of the machine")
}

func TestRefusals(t *testing.T) {
	s := serve(t, t.TempDir())
	_, port, _ := strings.Cut(strings.TrimPrefix(s.url, "http://"), ":")
	for name, c := range map[string]struct {
		edit func(*http.Request)
		want int
	}{
		"its address":       {nil, 200},
		"localhost":         {func(r *http.Request) { r.Host = "localhost:" + port }, 200},
		"IPv6":              {func(r *http.Request) { r.Host = "[::1]:" + port }, 200},
		"DNS rebinding":     {func(r *http.Request) { r.Host = "evil.example:" + port }, 403},
		"another port":      {func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"no port":           {func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"a longer name":     {func(r *http.Request) { r.Host = "127.0.0.1.evil.example:" + port }, 403},
		"another origin":    {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"an unnamed origin": {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"its own origin":    {func(r *http.Request) { r.Header.Set("Origin", s.url) }, 200},
		"POST":              {func(r *http.Request) { r.Method = http.MethodPost }, 405},
		"DELETE":            {func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		"HEAD":              {func(r *http.Request) { r.Method = http.MethodHead }, 200},
	} {
		resp, body := s.get("/", c.edit)
		require.Equal(t, c.want, resp.StatusCode, name)
		require.Equal(t, name == "HEAD", body == "", name)
		for header, want := range map[string]string{
			"Content-Security-Policy": ownPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			require.Equal(t, want, resp.Header.Get(header), "%s: %s", name, header)
		}
	}
	w := httptest.NewRecorder()
	Handler(options(t.TempDir())).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusForbidden, w.Code, "a request that came in nowhere")
}

func TestTooManyRequests(t *testing.T) {
	release, begun := make(chan bool), make(chan bool)
	s := httptest.NewServer(guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- true
		<-release
	})))
	defer s.Close()
	for range maxRequests {
		go func() {
			if resp, err := http.Get(s.URL); err == nil {
				_ = resp.Body.Close()
			}
		}()
	}
	for range maxRequests {
		<-begun
	}
	resp, err := http.Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	close(release)
	http.DefaultClient.CloseIdleConnections()
}

// Start serves until its context ends.
func TestStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, "", options(t.TempDir()))
	require.NoError(t, err)
	site{t, s.URL()}.page("/")
	_, err = Start(ctx, strings.TrimPrefix(s.URL(), "http://"), options(t.TempDir()))
	require.Error(t, err, "the address is in use")
	_, err = Start(ctx, "0.0.0.0:0", options(t.TempDir()))
	require.ErrorContains(t, err, "not loopback")
	cancel()
	begin := time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(begin), 5*time.Second)
	http.DefaultClient.CloseIdleConnections()
}

// BenchmarkList lists 300 runs, for the first time and repeatedly.
func BenchmarkList(b *testing.B) {
	runs := b.TempDir()
	for i := range 300 {
		m, rows := night(fmt.Sprintf("run%03d", i), 1, i%11)
		for k := range 60 {
			m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("T%02d", k), Title: "A task of usual length", Tier: "core", Request: strings.Repeat("How many? ", 12), Digest: strings.Repeat("0", 64)})
		}
		addRun(b, runs, m, rows, true)
	}
	for _, first := range []bool{true, false} {
		b.Run(map[bool]string{true: "first", false: "again"}[first], func(b *testing.B) {
			v := &viewer{Options: options(runs)}
			for b.Loop() {
				if first {
					v.listed.by = nil
				}
				if list, _, err := v.runs(); err != nil || len(list) != 300 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}

func TestProgress(t *testing.T) {
	runs := t.TempDir()
	m, rows := night("run01", 30, 3)
	first, again := rows.Episodes[7], rows.Turns[7]
	first.Status, first.InfraError = ledger.StatusInfraError, true // and is run again
	rows.Episodes = append([]ledger.Episode{first}, rows.Episodes[:9]...)
	rows.Turns = append([]ledger.Turn{again}, rows.Turns[:9]...)
	rows.Episodes[9].CostNanoUSD = nil
	addRunning(t, runs, m, rows)
	s := serve(t, runs)
	page := s.page("/run/run01/")
	for _, want := range []string{"Interrupted run", "<b>9 of 20</b> episodes have ended", "cupel run --resume " + filepath.Join(runs, "run01"), "started 2026-11-30 03:00 UTC"} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "data-live")
	require.NotContains(t, page, "Time left")
	require.NotContains(t, page, "refresh")

	unlock, err := ledger.Lock(filepath.Join(runs, "run01"))
	require.NoError(t, err)
	defer unlock()
	page = s.page("/run/run01/")
	for _, want := range []string{
		"Run in progress", "data-live", `<meta http-equiv="refresh" content="5">`, "<dt>Solved</dt><dd>6</dd>", "<dt>Failed</dt><dd>3</dd>", "<dt>Without a result</dt><dd>0</dd>",
		"<dt>Cost</dt><dd>unknown</dd>", "<dt>Time</dt><dd>540 min 00 s</dd>", "<dt>Time left</dt><dd>about 660 min 00 s</dd>", `<td class="n" data-l="Done">5 of 10</td>`, `<progress max="20" value="9"`, "G04/strong", "not solved, answered",
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "--resume")
	list := s.page("/")
	require.Contains(t, list, `<tr id="run-run01" data-live>`)
	require.Contains(t, list, `<small class="done">9 of 20</small>`)
	resp, _ := s.get("/run/run01/index.html", nil)
	require.Equal(t, http.StatusNotFound, resp.StatusCode)

	journal := filepath.Join(runs, "run01", "journal", "episodes.log")
	text, err := os.ReadFile(journal)
	require.NoError(t, err)
	text[30] ^= 1
	require.NoError(t, os.WriteFile(journal, text, 0o600))
	resp, body := s.get("/run/run01/", nil)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, body, "damaged at offset 0")
	require.NotContains(t, body, runs)
	s.page("/")
}

// The viewer changes nothing on the disk.
func TestNothingIsWritten(t *testing.T) {
	runs := t.TempDir()
	m, rows := night("run01", 1, 9)
	addRun(t, runs, m, rows, false)
	m, rows = night("run02", 2, 9)
	addRunning(t, runs, m, rows)
	before := tree(t, runs)
	s := serve(t, runs)
	for _, path := range []string{"/", "/run/run01/", "/run/run02/", "/trend?suite=counts", "/compare?baseline=run01&new=run01", "/run/run01/index.html"} {
		s.get(path, nil)
	}
	require.Equal(t, before, tree(t, runs))
}

// tree returns the content of a folder with modification times.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		list = append(list, fmt.Sprint(path, info.Size(), info.ModTime(), info.Mode()))
		return nil
	}))
	return list
}

func TestCompare(t *testing.T) {
	runs := t.TempDir()
	for day := 1; day <= 2; day++ {
		m, rows := night(fmt.Sprintf("run%02d", day), day, 9)
		addRun(t, runs, m, rows, true)
	}
	s := serve(t, runs)
	page := s.page("/")
	require.Contains(t, page, `name="new" value="run02" aria-label="New: counts 2026-11-02 03:00, run02" checked`)
	require.Contains(t, page, `name="baseline" value="run01" aria-label="Baseline: counts 2026-11-01 03:00, run01" checked`)
	one, two := filepath.Join(runs, "run01"), filepath.Join(runs, "run02")
	require.Equal(t, `<header class="wrap">`+backToList+one+"|"+two+"|skip", s.page("/compare?baseline=run01&new=run02&changed=skip"))
	require.Contains(t, s.page("/compare?baseline=run01:weak&new=run01:strong"), one+":weak|"+one+":strong|")

	resp, body := s.get("/compare?baseline=run01&new=run02&changed=keep", nil)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	for _, want := range []string{"tasks changed &lt;b&gt;", "<p><bdi>second line with [redacted]</bdi></p>", `name="baseline" value="run01"`, "<option selected>keep</option>"} {
		require.Contains(t, body, want)
	}
	for _, query := range []string{"", "baseline=run01", "baseline=run01&new=absent", "baseline=run01&new=..", "baseline=" + one + "&new=run02", "baseline=latest&new=run02", "baseline=run01&new=../" + filepath.Base(runs) + "/run02:x"} {
		resp, body := s.get("/compare?"+query, nil)
		require.Equal(t, http.StatusBadRequest, resp.StatusCode, query)
		require.Contains(t, body, "Choose two runs")
	}
}

func TestPreselect(t *testing.T) {
	row := func(suite, status string) rowView { return rowView{run: run{Suite: suite, Status: status}} }
	for name, c := range map[string]struct {
		rows          []rowView
		baseline, new int
	}{
		"none":                      {nil, -1, -1},
		"one":                       {[]rowView{row("a", "complete")}, -1, 0},
		"the one before":            {[]rowView{row("a", "complete"), row("a", "partial"), row("a", "complete")}, 1, 0},
		"of the same suite":         {[]rowView{row("a", "complete"), row("b", "complete"), row("a", "complete")}, 2, 0},
		"of another if need be":     {[]rowView{row("a", "complete"), row("b", "complete"), row("c", "complete")}, 1, 0},
		"only runs that have ended": {[]rowView{row("a", "running"), row("a", "complete"), row("a", interrupted), row("a", "complete")}, 3, 1},
	} {
		require.Equal(t, c.baseline >= 0, preselect(c.rows), name)
		for i, r := range c.rows {
			require.Equal(t, i == c.baseline, r.IsBaseline, "%s: %d", name, i)
			require.Equal(t, i == c.new, r.IsNew, "%s: %d", name, i)
		}
	}
}

func TestTrend(t *testing.T) {
	runs := t.TempDir()
	for day := 1; day <= 3; day++ {
		m, rows := night(fmt.Sprintf("run%02d", day), day, 10-day)
		addRun(t, runs, m, rows, false)
	}
	m, rows := night("run04", 4, 5)
	m.Tasks = m.Tasks[:2] // a selection of the tasks
	rows.Episodes, rows.Turns = rows.Episodes[:4], rows.Turns[:4]
	addRun(t, runs, m, rows, false)
	s := serve(t, runs)
	require.Contains(t, s.page("/"), `<a href="/trend?suite=counts">`)
	page := s.page("/trend?suite=counts")
	for _, want := range []string{`<div class="plot"`, `href="/run/run03/#trend"`, "2026-11-03 03:00", "$0.0015"} {
		require.Contains(t, page, want)
	}
	require.Less(t, strings.Index(page, `/">2026-11-03 03:00`), strings.Index(page, `/">2026-11-01 03:00`))
	require.NotContains(t, page, `/">2026-11-04 03:00`)
	for _, query := range []string{"", "?suite=absent", "?suite=%3Cb%3E"} {
		resp, body := s.get("/trend"+query, nil)
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
		require.NotContains(t, body, "<b><")
	}
}

func TestLocate(t *testing.T) {
	base := t.TempDir()
	runs, other := filepath.Join(base, "runs"), filepath.Join(base, "other")
	for _, dir := range []string{filepath.Join(runs, "01A"), filepath.Join(other, "02B")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o600))
	}
	t.Chdir(base)
	for arg, want := range map[string][2]string{
		"other": {"other", "/"}, "01A": {runs, "/run/01A/"}, "01": {runs, "/run/01A/"}, "other/02B": {other, "/run/02B/"}, filepath.Join(other, "02B"): {other, "/run/02B/"},
	} {
		folder, page, err := Locate("runs", arg)
		require.NoError(t, err, arg)
		require.Equal(t, want, [2]string{folder, page}, arg)
	}
	_, _, err := Locate("runs", "absent")
	require.ErrorContains(t, err, "absent")
	t.Chdir(filepath.Join(runs, "01A"))
	folder, page, err := Locate("runs", ".")
	require.NoError(t, err)
	require.Equal(t, [2]string{runs, "/run/01A/"}, [2]string{folder, page})
}

func TestOpenBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // with no browser in it
	for _, env := range []map[string]string{{}, {"DISPLAY": ":0"}, {"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"}, {"WAYLAND_DISPLAY": "w", "CI": "true"}} {
		require.False(t, OpenBrowser("http://127.0.0.1:1/", func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		}), env)
	}
}
