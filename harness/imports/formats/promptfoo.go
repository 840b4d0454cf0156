package formats

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// Promptfoo reads the JSON and the JSON lines that promptfoo eval -o writes, of versions 2 and 3 of
// its results.
type Promptfoo struct{}

// Suffixes implements imports.Format.
func (Promptfoo) Suffixes() []string { return jsonFiles }

// fooResult is a result: a provider's answer to a prompt of a test case.
type fooResult struct {
	Provider struct {
		ID     string  `json:"id"`
		Label  string  `json:"label"`
		Others members `json:",embed"`
	} `json:"provider"`
	Prompt struct {
		Raw    string  `json:"raw"`
		Label  string  `json:"label"`
		Others members `json:",embed"`
	} `json:"prompt"`
	TestCase struct {
		Description string         `json:"description"`
		Vars        jsontext.Value `json:"vars"`
		Assert      jsontext.Value `json:"assert"`
		Others      members        `json:",embed"`
	} `json:"testCase"`
	Vars     jsontext.Value `json:"vars"`
	Response *struct {
		Output jsontext.Value `json:"output"`
		Error  string         `json:"error"`
		Cost   *float64       `json:"cost"`
		Tokens *struct {
			Total      int64 `json:"total"`
			Prompt     int64 `json:"prompt"`
			Completion int64 `json:"completion"`
			Cached     int64 `json:"cached"`
			Details    struct {
				Reasoning  int64   `json:"reasoning"`
				CacheRead  int64   `json:"cacheReadInputTokens"`
				CacheWrite int64   `json:"cacheCreationInputTokens"`
				Others     members `json:",embed"`
			} `json:"completionDetails"`
			Others members `json:",embed"`
		} `json:"tokenUsage"`
		Others members `json:",embed"`
	} `json:"response"`
	Success       *bool    `json:"success"`
	Error         string   `json:"error"`
	FailureReason *int     `json:"failureReason"`
	LatencyMs     *float64 `json:"latencyMs"`
	Grading       *struct {
		Components []struct {
			Pass      bool   `json:"pass"`
			Reason    string `json:"reason"`
			Assertion *struct {
				Type   string  `json:"type"`
				Metric string  `json:"metric"`
				Others members `json:",embed"`
			} `json:"assertion"`
			Others members `json:",embed"`
		} `json:"componentResults"`
		Others members `json:",embed"`
	} `json:"gradingResult"`
	Others members `json:",embed"`
}

// failedByError is promptfoo's failureReason of a result that is none.
const failedByError = 2

// Read implements imports.Format. A candidate is a provider, with the prompt if it had several; a task
// is a test case, so that repeated ones are trials.
func (Promptfoo) Read(ctx context.Context, files []imports.File, o imports.Options, add func(*imports.Episode) error) (imports.Result, error) {
	r := imports.NewRows(o, add)
	found := fooReader{rows: r}
	r.Files(ctx, files, func(in *bufio.Reader) error {
		found.at = 0
		return r.Values(ctx, in, fooWhole, found.top, found.result)
	})
	return r.Result("promptfoo")
}

// fooWhole tells a whole export from a line with a result, by its first member.
var fooWhole = regexp.MustCompile(`^\s*\{\s*"(evalId|version|timestamp|results|config)"`)

// fooReader reads a file.
type fooReader struct {
	rows *imports.Rows
	at   int64 // when the evaluation began, in microseconds
}

// top reads the members of a whole export: its results are deep in it.
func (f *fooReader) top(d *imports.Document, result func() error) error {
	found := false
	var inner func(path, name string) error
	inner = func(path, name string) error {
		switch {
		case name == "results" && d.IsObject() && path == "":
			return d.Members(func(name string) error { return inner("results.", name) })
		case name == "results" && d.IsArray():
			found = true
			return d.Items(result)
		}
		v, err := d.Value()
		if err == nil && name == "timestamp" {
			if t, bad := time.Parse(time.RFC3339, scalar(v)); bad == nil {
				f.at = t.UnixMicro()
			}
			return nil
		}
		f.rows.Unknown(path, members{name: slices.Clone(jsontext.Value(v))})
		return err
	}
	err := d.Members(func(name string) error { return inner("", name) })
	if err == nil && !found {
		err = errors.New("no results: a file that promptfoo eval -o writes has results.results")
	}
	return err
}

func (f *fooReader) result(row []byte) error {
	var v fooResult
	if err := imports.Decode(row, &v); err != nil {
		return err
	}
	if v.Success == nil || v.Provider.ID == "" {
		return errors.New("a result of promptfoo has provider.id and success")
	}
	if v.LatencyMs != nil && (*v.LatencyMs < 0 || *v.LatencyMs > maxSeconds*1e3) {
		return errors.New("latencyMs must be milliseconds from 0 up")
	}
	f.rows.Add(v.episode(f))
	return nil
}

func (v *fooResult) episode(f *fooReader) *imports.Episode {
	if v.Vars == nil {
		v.Vars = v.TestCase.Vars
	}
	request := asked(v.Vars)
	e := &imports.Episode{Candidate: cmp.Or(v.Provider.Label, v.Provider.ID), Variant: cmp.Or(v.Prompt.Label, v.Prompt.Raw), Request: &request, Start: f.at, End: f.at}
	e.Provider, e.Model, _ = strings.Cut(v.Provider.ID, ":")
	if e.Model == "" {
		e.Provider, e.Model = "", v.Provider.ID
	}
	e.ID = request
	e.Task = cmp.Or(v.TestCase.Description, "case") + "-" + short(canonical(v.Vars), canonical(v.TestCase.Assert))
	if v.LatencyMs != nil {
		e.End += int64(*v.LatencyMs * 1e3)
	}
	t := imports.Turn{Start: e.Start, End: e.End, Said: imports.Said{Messages: v.prompt(f)}}
	if v.Response != nil {
		v.answer(&t)
		e.Answer = t.Said.Output
	}
	if v.FailureReason != nil && *v.FailureReason == failedByError || v.Grading == nil && v.Error != "" {
		e.Crashed = cmp.Or(v.Error, "promptfoo reports an error")
		t.Failed = e.Crashed
	} else {
		e.Verdict = &imports.Verdict{Solved: *v.Success}
		v.checks(e.Verdict)
	}
	e.Turns = []imports.Turn{t}
	v.unknown(f.rows)
	return e
}

// canonical is a value with one spelling, so that equal test cases have equal names.
func canonical(v jsontext.Value) string {
	v = slices.Clone(v)
	_ = v.Canonicalize() // else it stays as it is
	return string(v)
}

// asked is the request of a test case: its one variable, or all of them.
func asked(vars jsontext.Value) string {
	var one map[string]string
	if imports.Decode(vars, &one) == nil && len(one) == 1 {
		for _, text := range one {
			return text
		}
	}
	return canonical(vars)
}

// prompt is what the provider was sent: a text, or a conversation as JSON.
func (v *fooResult) prompt(f *fooReader) []imports.Message {
	if strings.HasPrefix(strings.TrimSpace(v.Prompt.Raw), "[") {
		var list []chatMessage
		if imports.Decode([]byte(v.Prompt.Raw), &list) == nil {
			if out, err := messages(list, f.rows, "prompt[]."); err == nil {
				return out
			}
		}
	}
	return []imports.Message{{Role: imports.RoleUser, Text: v.Prompt.Raw}}
}

// answer fills in what the provider returned. promptfoo writes 0 for tokens and costs that a provider
// does not report, so that 0 in all is unknown.
func (v *fooResult) answer(t *imports.Turn) {
	if v.Response.Output != nil && v.Response.Output.Kind() != 'n' {
		t.Said.Output = new(scalar(v.Response.Output))
	}
	if c := v.Response.Cost; c != nil && *c > 0 && *c < 1e6 {
		t.CostNanoUSD = new(int64(math.Round(*c * 1e9)))
		t.CostReportedNanoUSD = t.CostNanoUSD
	}
	if n := v.Response.Tokens; n != nil && n.Total > 0 && n.Prompt+n.Completion > 0 {
		t.In, t.Out = new(max(0, n.Prompt-n.Details.CacheRead-n.Details.CacheWrite)), new(max(0, n.Completion-n.Details.Reasoning))
		for to, count := range map[**int64]int64{&t.CacheRead: n.Details.CacheRead, &t.CacheWrite: n.Details.CacheWrite, &t.Reasoning: n.Details.Reasoning} {
			if count > 0 {
				*to = new(count)
			}
		}
	}
}

func (v *fooResult) checks(to *imports.Verdict) {
	if v.Grading == nil {
		return
	}
	for i, c := range v.Grading.Components {
		name := fmt.Sprintf("assertion %d", i+1)
		if c.Assertion != nil {
			name = cmp.Or(c.Assertion.Metric, c.Assertion.Type, name)
		}
		check := ledger.Check{Name: name, Passed: c.Pass}
		if !c.Pass {
			check.Detail = c.Reason
		}
		to.Checks = append(to.Checks, check)
	}
}

// unknown counts what is not read.
func (v *fooResult) unknown(r *imports.Rows) {
	r.Unknown("", v.Others)
	r.Unknown("provider.", v.Provider.Others)
	r.Unknown("prompt.", v.Prompt.Others)
	r.Unknown("testCase.", v.TestCase.Others)
	if v.Response != nil {
		r.Unknown("response.", v.Response.Others)
		if v.Response.Tokens != nil {
			r.Unknown("response.tokenUsage.", v.Response.Tokens.Others)
			r.Unknown("response.tokenUsage.completionDetails.", v.Response.Tokens.Details.Others)
		}
	}
	if v.Grading == nil {
		return
	}
	r.Unknown("gradingResult.", v.Grading.Others)
	for _, c := range v.Grading.Components {
		r.Unknown("gradingResult.componentResults[].", c.Others)
		if c.Assertion != nil {
			r.Unknown("gradingResult.componentResults[].assertion.", c.Assertion.Others)
		}
	}
}
