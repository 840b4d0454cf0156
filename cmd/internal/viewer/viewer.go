// Package viewer serves the runs of a folder as pages: a list with search, trends, the
// progress of a run, comparisons, and the reports of the runs. It keeps nothing and
// writes nothing; what it shows is what is on the disk at that time.
//
// Run folders are untrusted: another program may have made them. A page of theirs runs
// without an origin, so its script reads no other page.
package viewer

import (
	"context"
	"embed"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/internal/loopback"
	"github.com/cupel-eval/cupel/reports/html"
)

// Options are what a viewer shows, and how. All fields are required.
type Options struct {
	// Runs is the folder of run folders. It may be missing: there are no runs then.
	Runs string
	// Redact takes credentials out of a text.
	Redact func(field, text string) string
	// Compare writes the page of a comparison of two runs. baseline and newRun are
	// RUN or RUN:CANDIDATE with the path of a run folder; changed says what to do with
	// changed tasks, empty for the default. It is called from one goroutine at a time.
	Compare func(ctx context.Context, w io.Writer, baseline, newRun, changed string) error
	// Now is the wall clock.
	Now func() time.Time
}

// Address is where a viewer listens by default, so that bookmarks stay valid.
const Address = "127.0.0.1:8178"

// Start serves the viewer on a loopback address until Close is called or ctx ends; see
// loopback.Start. An empty addr means Address, or a free port if another program has that.
func Start(ctx context.Context, addr string, o Options) (*loopback.Server, error) {
	h := Handler(o)
	if addr != "" {
		return loopback.Start(ctx, addr, h, false)
	}
	if s, err := loopback.Start(ctx, Address, h, false); err == nil {
		return s, nil
	}
	return loopback.Start(ctx, "", h, false)
}

// Locate returns the folder and the path of the page that show RUN or DIR: a run, by what
// rundir.Find knows it by, is shown in its folder.
func Locate(runs, name string) (folder, page string, err error) {
	dir, err := rundir.Find(runs, name)
	if err != nil {
		if isFolder(filepath.Clean(name)) {
			return name, "/", nil
		}
		return "", "", err
	}
	dir, err = filepath.Abs(dir) // the run may be the working directory
	return filepath.Dir(dir), "/run/" + url.PathEscape(filepath.Base(dir)) + "/", err
}

// viewer serves the pages.
type viewer struct {
	Options
	listed runCache
	// heavy is held while a page is made of whole ledgers.
	heavy sync.Mutex
}

// Handler returns the pages. It answers requests that name the address they came in on
// by a loopback name, and no others; it is safe for concurrent use.
func Handler(o Options) http.Handler {
	v := &viewer{Options: o}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.list)
	mux.HandleFunc("GET /run/{id}/{file...}", v.run)
	mux.HandleFunc("GET /compare", v.compare)
	mux.HandleFunc("GET /trend", v.trend)
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "There is no such page.")
	})
	return guard(mux)
}

//go:embed page
var pages embed.FS

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pages, "page/*.tmpl"))
})

// asset serves the script and the style sheet, which is that of reports with some further rules.
func asset(w http.ResponseWriter, r *http.Request) {
	style, script := "text/css; charset=utf-8", "text/javascript; charset=utf-8"
	switch name := r.PathValue("name"); name {
	case "view.css":
		own, _ := pages.ReadFile("page/view.css") // it is embedded
		write(w, style, append([]byte(html.Style()), own...))
	case "view.js":
		own, _ := pages.ReadFile("page/view.js") // it is embedded
		write(w, script, own)
	default:
		fail(w, http.StatusNotFound, "There is no such file.")
	}
}

// folder is the path of a run folder. ok is false unless it is a folder right below Runs.
func (v *viewer) folder(id string) (dir string, ok bool) {
	dir = filepath.Join(v.Runs, id)
	return dir, filepath.IsLocal(id) && filepath.Base(id) == id && id != "." && isFolder(dir)
}
