// Package judges has the calibrations of judges: what labels of people say about their errors,
// and the file beside a suite that keeps it.
package judges

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/stat/agreement"
	"github.com/cupel-eval/cupel/reports/stat/judging"
)

// File is the name of the file with the calibrations of a suite's judges, in its folder.
const File = "calibration.yaml"

// Confidence is that of the intervals in the file.
const Confidence = 0.95

// Calibration is what labels say about a judge. It holds for one digest.
type Calibration struct {
	// Judge is what was calibrated: its check, with the digests that it is bound to.
	Judge manifest.Judge
	// Labels are the rows that were compared, in Tasks tasks.
	Labels, Tasks int
	// Weights are what a label counts by the verdict of the judge: 1 and 1 if labels are a
	// sample of all verdicts in equal parts.
	PassWeight, FailWeight float64
	// Counts are the labels by task, without weights, with the number of equal tasks.
	Counts []Count
}

// Count are so many tasks with the same counts.
type Count struct {
	Tasks int
	// Of the labels of each task, PassFail were passed by people and failed by the judge, and so on.
	PassPass, PassFail, FailPass, FailFail int
}

// Tables are the weighted counts of each task.
func (c Calibration) Tables() (list []judging.Table) {
	for _, n := range c.Counts {
		t := judging.Table{
			PassPass: c.PassWeight * float64(n.PassPass), PassFail: c.FailWeight * float64(n.PassFail),
			FailPass: c.PassWeight * float64(n.FailPass), FailFail: c.FailWeight * float64(n.FailFail),
		}
		list = append(list, slices.Repeat([]judging.Table{t}, n.Tasks)...)
	}
	return list
}

// Agreement says how far a judge agrees with people.
type Agreement struct {
	// Agreement is the share of labels that the judge's verdict equals, Kappa Cohen's: see
	// package agreement.
	Agreement judging.Rate `json:"agreement"`
	Kappa     judging.Rate `json:"kappa"`
	// Sensitivity is the share of passes of the judge among what people pass, Specificity the
	// share of fails among what people fail, both weighted.
	Sensitivity judging.Rate `json:"sensitivity"`
	Specificity judging.Rate `json:"specificity"`
}

// Agreement computes the agreement with people. Its intervals have the level Confidence and are
// clustered by task; that of kappa is approximate.
func (c Calibration) Agreement() Agreement {
	var tables []agreement.Table
	for _, n := range c.Counts {
		t := agreement.Table{BothPass: n.PassPass, OnlyA: n.PassFail, OnlyB: n.FailPass, BothFail: n.FailFail}
		tables = append(tables, slices.Repeat([]agreement.Table{t}, n.Tasks)...)
	}
	of, errors := agreement.Of(tables, Confidence), judging.ErrorsOf(c.Tables())
	return Agreement{
		judging.Rate{Value: of.Share, Interval: of.Interval}, judging.Rate{Value: of.Kappa, Interval: of.KappaInterval},
		judging.RateOf(errors.Passes, Confidence), judging.RateOf(errors.Fails, Confidence),
	}
}

// entry is the form of a calibration in the file.
type entry struct {
	Judge       string    `yaml:"judge"`
	AtLeast     *float64  `yaml:"at_least,omitempty"`
	Provider    string    `yaml:"provider"`
	Model       string    `yaml:"model"`
	Digest      string    `yaml:"digest"`
	Rubric      string    `yaml:"rubric"`
	Settings    string    `yaml:"settings"`
	Prompt      string    `yaml:"prompt"`
	Labels      int       `yaml:"labels"`
	Agreement   []float64 `yaml:"agreement,flow"`
	Kappa       []float64 `yaml:"kappa,flow"`
	Sensitivity []float64 `yaml:"sensitivity,flow"`
	Specificity []float64 `yaml:"specificity,flow"`
	Weights     *weights  `yaml:"weights,flow,omitempty"`
	Counts      []counts  `yaml:"counts"`
}

type weights struct {
	Pass float64 `yaml:"pass"`
	Fail float64 `yaml:"fail"`
}

type counts struct {
	Tasks    int `yaml:"tasks"`
	PassPass int `yaml:"pass_pass"`
	PassFail int `yaml:"pass_fail"`
	FailPass int `yaml:"fail_pass"`
	FailFail int `yaml:"fail_fail"`
}

// MarshalYAML writes counts in one line.
func (c counts) MarshalYAML() (any, error) {
	type plain counts
	var n yaml.Node
	err := n.Encode(plain(c))
	n.Style = yaml.FlowStyle
	return &n, err
}

const head = `# Written by "cupel judge calibrate": how far the judges of this suite agree with people.
# agreement, kappa, sensitivity and specificity are estimates with 95% intervals, for
# readers; reports read the counts. pass_fail: people pass, the judge fails.
`

// Write replaces the calibrations of a suite's folder.
func Write(dir string, list []Calibration) error {
	var doc struct {
		Judges []entry `yaml:"judges"`
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Calibration) int {
		return cmp.Or(cmp.Compare(a.Judge.Check, b.Judge.Check), cmp.Compare(a.Judge.Threshold(), b.Judge.Threshold()))
	})
	for _, c := range list {
		a, j := c.Agreement(), c.Judge
		e := entry{
			Judge: strings.TrimPrefix(j.Check, manifest.JudgePrefix), AtLeast: j.AtLeast, Provider: j.Provider, Model: j.Model,
			Digest: j.Digest, Rubric: j.Rubric, Settings: j.Settings, Prompt: j.Prompt, Labels: c.Labels,
			Agreement: numbers(a.Agreement), Kappa: numbers(a.Kappa), Sensitivity: numbers(a.Sensitivity), Specificity: numbers(a.Specificity),
		}
		if c.PassWeight != 1 || c.FailWeight != 1 {
			e.Weights = &weights{c.PassWeight, c.FailWeight}
		}
		for _, n := range c.Counts {
			e.Counts = append(e.Counts, counts(n))
		}
		doc.Judges = append(doc.Judges, e)
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return fmt.Errorf("write calibrations: %w", err)
	}
	return atomicfile.WriteBytes(filepath.Join(dir, File), append([]byte(head), text...))
}

// numbers are an estimate and the ends of its interval, to four digits.
func numbers(r judging.Rate) (list []float64) {
	round := func(v float64) float64 { return math.Round(v*1e4) / 1e4 }
	if r.Value != nil {
		list = append(list, round(*r.Value))
	}
	if r.Value != nil && r.Interval != nil {
		list = append(list, round(r.Interval.Low), round(r.Interval.High))
	}
	return list
}

// Read reads the calibrations of a suite's folder; none without the file. An error joins one
// for each problem, with file and line.
func Read(dir string) (list []Calibration, err error) {
	path := filepath.Join(dir, File)
	text, err := regular.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read calibrations: %w", err)
	}
	return parse(path, text)
}

func parse(path string, text []byte) (list []Calibration, err error) {
	var doc struct {
		Judges []yaml.Node `yaml:"judges"`
	}
	if err := decode(text, &doc); err != nil {
		return nil, located(path, err)
	}
	var problems []error
	for i := range doc.Judges {
		n := &doc.Judges[i]
		var e entry
		raw, err := yaml.Marshal(n)
		if err == nil {
			err = decode(raw, &e)
		}
		if err == nil {
			err = e.check()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: judges[%d]: %w", path, n.Line, i, plain(err)))
			continue
		}
		list = append(list, e.calibration())
	}
	return list, errors.Join(problems...)
}

func decode(text []byte, to any) error {
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	return dec.Decode(to)
}

// plain is an error of a piece of the file without the lines, which are those of the piece.
func plain(err error) error {
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		var list []string
		for _, text := range e.Errors {
			_, text, _ = strings.Cut(text, ": ")
			list = append(list, text)
		}
		return errors.New(strings.Join(list, "; "))
	}
	return err
}

// located is an error of the whole file with its name.
func located(path string, err error) error {
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		var list []error
		for _, text := range e.Errors {
			list = append(list, fmt.Errorf("%s:%s", path, strings.TrimPrefix(text, "line ")))
		}
		return errors.Join(list...)
	}
	return fmt.Errorf("%s: %w; write it again with: cupel judge calibrate", path, err)
}

// check says what a calibration cannot be.
func (e entry) check() error {
	labels := 0
	for _, n := range e.Counts {
		least := min(n.PassPass, n.PassFail, n.FailPass, n.FailFail)
		if n.Tasks < 1 || least < 0 || n.Tasks > 1e6 || max(n.PassPass, n.PassFail, n.FailPass, n.FailFail) > 1e6 {
			return errors.New("counts must be from 0 to 1,000,000, of 1 task or more")
		}
		labels += n.Tasks * (n.PassPass + n.PassFail + n.FailPass + n.FailFail)
	}
	switch {
	case e.Judge == "" || e.Digest == "":
		return errors.New("judge and digest are required")
	case labels != e.Labels || labels > 1e6:
		return fmt.Errorf("counts have %d labels, and labels says %d: the file was edited; write it again with: cupel judge calibrate", labels, e.Labels)
	case e.Weights != nil && !(e.Weights.Pass > 0 && e.Weights.Fail > 0 && e.Weights.Pass < 1e6 && e.Weights.Fail < 1e6):
		return errors.New("weights must be above 0")
	}
	return nil
}

func (e entry) calibration() Calibration {
	c := Calibration{
		Judge: manifest.Judge{
			Check: manifest.JudgePrefix + e.Judge, AtLeast: e.AtLeast, Provider: e.Provider, Model: e.Model,
			Digest: e.Digest, Rubric: e.Rubric, Settings: e.Settings, Prompt: e.Prompt,
		},
		Labels: e.Labels, PassWeight: 1, FailWeight: 1,
	}
	if e.Weights != nil {
		c.PassWeight, c.FailWeight = e.Weights.Pass, e.Weights.Fail
	}
	for _, n := range e.Counts {
		c.Counts, c.Tasks = append(c.Counts, Count(n)), c.Tasks+n.Tasks
	}
	return c
}

// Find returns the calibration that holds for a judge of a run. Without one, why says so, and
// what to do.
func Find(list []Calibration, j manifest.Judge) (c Calibration, why string, ok bool) {
	name := strings.TrimPrefix(j.Check, manifest.JudgePrefix)
	stale := ""
	for _, c := range list {
		if c.Judge.Digest == j.Digest && j.Digest != "" {
			return c, "", true
		}
		if c.Judge.Check == j.Check {
			stale = differs(c.Judge, j)
		}
	}
	if stale != "" {
		return c, fmt.Sprintf("the calibration of judge %s is stale: its %s changed", name, stale), false
	}
	return c, fmt.Sprintf("judge %s is not calibrated", name), false
}

// differs names what is another in a judge than when it was calibrated.
func differs(was, is manifest.Judge) string {
	var parts []string
	for _, p := range []struct{ name, was, is string }{
		{"rubric", was.Rubric, is.Rubric}, {"model or its settings", was.Settings, is.Settings}, {"prompt", was.Prompt, is.Prompt},
		{"at_least", fmt.Sprint(was.Threshold()), fmt.Sprint(is.Threshold())},
	} {
		if p.was != p.is {
			parts = append(parts, p.name)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "digest")
}
