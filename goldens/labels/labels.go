// Package labels reads what people say of episodes: files of verdicts, as CSV or JSON lines.
package labels

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/dataset"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Columns are those that files have. task, candidate, trial, verdict and labeller are required of
// a row that has a verdict; candidate may be left out of files of one candidate.
var Columns = []string{"task", "candidate", "trial", "check", "verdict", "score", "labeller"}

const (
	maxRows     = 1_000_000
	maxProblems = 50  // that are listed
	maxName     = 200 // bytes of a name
)

// Label is the verdict of a person on an episode or on one of its checks.
type Label struct {
	// File and Line say where it was read.
	File string
	Line int
	// Task, Candidate and Trial are those of the episode. Candidate may be empty.
	Task, Candidate string
	Trial           int
	// Check is the name of a check, such as judge.tone; empty means the whole episode.
	Check, Labeller string
	Pass            bool
	// Score is nil if the person gave none.
	Score *float64
}

// At says where the label was read.
func (l Label) At() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }

// Labels are what a file has.
type Labels struct {
	List []Label
	// Unlabelled counts the rows without a verdict.
	Unlabelled int
	// Ignored are the columns that are not read, in their order.
	Ignored []string
}

// Read reads a file by its name and content. Files named .jsonl, .ndjson or .json are JSON lines,
// others CSV. The error joins one for each bad row, with file and line.
func Read(name string, text []byte) (out Labels, err error) {
	if len(text) > dataset.MaxBytes {
		return out, fmt.Errorf("%s: is larger than %d MiB", name, dataset.MaxBytes>>20)
	}
	read := dataset.CSV
	if slices.Contains([]string{".jsonl", ".ndjson", ".json"}, strings.ToLower(path.Ext(name))) {
		read = dataset.Lines
	}
	columns, rows, faults := read(text, maxRows)
	if len(faults) == 0 {
		for _, want := range []string{"task", "verdict"} {
			if !slices.Contains(columns, want) {
				faults = append(faults, dataset.Fault{Line: 1, Detail: fmt.Sprintf("has no column %s; the columns are %s", want, strings.Join(Columns, ", "))})
			}
		}
	}
	for _, c := range columns {
		if !slices.Contains(Columns, c) {
			out.Ignored = append(out.Ignored, c)
		}
	}
	first := map[Label]Label{} // without place and verdict
	for _, row := range rows {
		if len(faults) > 0 && faults[0].Line == 1 {
			break // the columns are not those of labels
		}
		l, blank, detail := label(row)
		if blank {
			out.Unlabelled++
			continue
		}
		l.File = name
		key := l
		key.Line, key.Pass, key.Score = 0, false, nil
		if before, twice := first[key]; twice && detail == "" {
			if before.Pass == l.Pass {
				continue
			}
			detail = fmt.Sprintf("%s labelled this in line %d already, with the other verdict", quote(l.Labeller), before.Line)
		}
		if detail != "" {
			faults = append(faults, dataset.Fault{Line: row.Line, Detail: detail})
			continue
		}
		first[key] = l
		out.List = append(out.List, l)
	}
	slices.SortStableFunc(faults, func(a, b dataset.Fault) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for i, f := range faults {
		if i == maxProblems {
			errs = append(errs, fmt.Errorf("%s: %d more problems are not listed", name, len(faults)-i))
			break
		}
		errs = append(errs, fmt.Errorf("%s:%d: %s", name, f.Line, f.Detail))
	}
	return out, errors.Join(errs...)
}

// label reads a row. It is blank if it has no verdict.
func label(row dataset.Row) (l Label, blank bool, detail string) {
	var wrong []string
	cell := func(name string) string {
		value := row.Values[name]
		var text string
		switch {
		case len(value) == 0 || string(value) == "null":
		case json.Unmarshal(value, &text) == nil:
			text = strings.TrimSpace(Plain(text))
		case value[0] == '{' || value[0] == '[' || value[0] == 't' || value[0] == 'f':
			wrong = append(wrong, name+" must be a text or a number")
		default:
			text = string(value)
		}
		if len(text) > maxName {
			wrong = append(wrong, fmt.Sprintf("%s has more than %d bytes", name, maxName))
		}
		return text
	}
	verdict := strings.ToLower(cell("verdict"))
	if verdict == "" && len(wrong) == 0 {
		return l, true, ""
	}
	l = Label{Line: row.Line, Task: cell("task"), Candidate: cell("candidate"), Check: cell("check"), Labeller: cell("labeller"), Pass: verdict == "pass"}
	if len(wrong) == 0 && verdict != "pass" && verdict != "fail" {
		wrong = append(wrong, fmt.Sprintf("verdict is %s, must be pass or fail", quote(verdict)))
	}
	if l.Task == "" {
		wrong = append(wrong, "has no task")
	}
	if l.Labeller == "" {
		wrong = append(wrong, "has no labeller; name who gave the verdict")
	}
	trial := cmp.Or(cell("trial"), "1")
	var err error
	if l.Trial, err = strconv.Atoi(trial); err != nil || l.Trial < 1 || l.Trial > math.MaxInt32 {
		wrong = append(wrong, fmt.Sprintf("trial is %s, must be a number from 1", quote(trial)))
	}
	if text := cell("score"); text != "" {
		score, err := strconv.ParseFloat(text, 64)
		if l.Score = &score; err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
			wrong = append(wrong, fmt.Sprintf("score is %s, must be a number", quote(text)))
		}
	}
	return l, false, strings.Join(wrong, "; ")
}

func quote(text string) string { return strconv.Quote(clip.Bytes(text, 100)) }

// formula has what begins a cell that a spreadsheet would compute, and the apostrophe of Safe.
const formula = "=+-@\t\r\n'"

// Safe returns a text as a cell that spreadsheets show and do not compute: one that begins as a
// formula does gets an apostrophe before it, which Plain removes. After a semicolon or a tab,
// which some spreadsheets separate cells by, it does so as well.
func Safe(text string) string {
	var b strings.Builder
	start := true
	for i := range len(text) {
		if start && strings.IndexByte(formula, text[i]) >= 0 {
			b.WriteByte('\'')
		}
		b.WriteByte(text[i])
		start = text[i] == ';' || text[i] == '\t'
	}
	return b.String()
}

// Plain returns the text of a cell without the apostrophes of Safe.
func Plain(cell string) string {
	var b strings.Builder
	start := true
	for i := 0; i < len(cell); i++ {
		if start && cell[i] == '\'' && i+1 < len(cell) && strings.IndexByte(formula, cell[i+1]) >= 0 {
			i++
		}
		b.WriteByte(cell[i])
		start = cell[i] == ';' || cell[i] == '\t'
	}
	return b.String()
}
