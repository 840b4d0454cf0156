package viewer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/words"
)

// kinds are the files of a report.
var kinds = map[string]string{
	".html": htmlKind, ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
	".json": "application/json", ".md": "text/plain; charset=utf-8", ".xml": "text/xml; charset=utf-8",
}

// maxPage bounds a page of a report, in bytes; what is longer is cut.
const maxPage = 64 << 20

// run serves the report of a run, from its folder if it is there, or the progress of one
// that has not ended.
func (v *viewer) run(w http.ResponseWriter, r *http.Request) {
	id, file := r.PathValue("id"), r.PathValue("file")
	found, ok := v.find(id)
	switch {
	case !ok:
		fail(w, http.StatusNotFound, "There is no such run.")
	case found.Problem != "":
		v.problem(w, http.StatusUnprocessableEntity, "The run cannot be read", found.Problem)
	case found.Ended() && (found.Reported || file != ""):
		v.file(w, id, file)
	case found.Ended():
		v.render(w, id)
	case file != "":
		fail(w, http.StatusNotFound, "The run has not ended, so it has no report.")
	default:
		v.progress(w, found)
	}
}

// problem answers with what is wrong, a paragraph for each of its lines.
func (v *viewer) problem(w http.ResponseWriter, status int, title, text string) {
	render(w, status, "problem.html.tmpl", problemView{Title: title, Lines: v.lines(text)})
}

// relative is the text of an error without the path of a folder.
func (v *viewer) relative(dir string, err error) string {
	return strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
}

// render makes the report of a run whose folder has none, as one page.
func (v *viewer) render(w http.ResponseWriter, id string) {
	v.heavy.Lock()
	defer v.heavy.Unlock()
	dir, _ := v.folder(id)
	var b bytes.Buffer
	_, report, err := rundir.Report(v.Runs, dir, nil)
	if err == nil {
		err = reports.HTML(&b, report)
	}
	if err != nil {
		v.problem(w, http.StatusUnprocessableEntity, "The run cannot be read", v.relative(dir, err))
		return
	}
	reportPage(w, b.Bytes(), fmt.Sprintf(withoutTexts, words.HTML(v.Redact("command", "cupel report "+filepath.Clean(dir)))))
}

// withoutTexts is a note for the page of a run that has no report, because pages with
// prompts and outputs are files of a report, and the viewer writes none.
const withoutTexts = "\n" + `<p>This run has no report of its current rows, so prompts and outputs are not shown. To see them, run <code>%s</code> and reload this page.</p>`

// file serves a file of a report.
func (v *viewer) file(w http.ResponseWriter, id, file string) {
	if file == "" {
		file = "index.html"
	}
	kind, ok := kinds[path.Ext(file)]
	if !ok || !fs.ValidPath(file) {
		fail(w, http.StatusNotFound, "There is no such file.")
		return
	}
	f, err := openBelow(v.Runs, path.Join(id, "report", file))
	var content []byte
	if err == nil {
		defer func() { _ = f.Close() }() // it was only read
		if kind == htmlKind {
			content, err = io.ReadAll(io.LimitReader(f, maxPage))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fail(w, http.StatusNotFound, "The report has no such file. Make the report again: cupel report "+words.Brief(id, 80))
	case err != nil:
		v.problem(w, http.StatusUnprocessableEntity, "The file cannot be read", err.Error())
	case kind == htmlKind:
		reportPage(w, content, "")
	default:
		w.Header().Set("Content-Security-Policy", reportPolicy)
		w.Header().Del("Cross-Origin-Resource-Policy") // pages of reports have no origin
		w.Header().Set("Content-Type", kind)
		_, _ = io.Copy(w, f) // the client is gone
	}
}

// openBelow opens a regular file below a folder. Links out of it are refused.
func openBelow(folder, name string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // the file stays open
	return regular.OpenIn(root, name)
}

// backToList leads from a page of a report to the list.
const backToList = "\n" + `<nav class="trail" aria-label="Runs"><a href="/">All runs</a></nav>`

// reportPage serves a page of a report, with a way back to the list and a note, which is
// HTML or empty.
func reportPage(w http.ResponseWriter, page []byte, note string) {
	const begins = `<header class="wrap">`
	page = bytes.Replace(page, []byte(begins), []byte(begins+backToList+note), 1)
	w.Header().Set("Content-Security-Policy", reportPolicy)
	write(w, htmlKind, page)
}
