package formats

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// inspectRow is a sample.
type inspectRow struct {
	ID       jsontext.Value `json:"id"`
	Epoch    int            `json:"epoch"`
	Messages []chatMessage  `json:"messages"`
	Scores   map[string]struct {
		Value       jsontext.Value `json:"value"`
		Explanation *string        `json:"explanation"`
		Others      members        `json:",embed"`
	} `json:"scores"`
	Events    []inspectEvent          `json:"events"`
	Usage     map[string]inspectUsage `json:"model_usage"`
	StartedAt string                  `json:"started_at"`
	TotalTime float64                 `json:"total_time"`
	Error     jsontext.Value          `json:"error"`
	Limit     *struct {
		Type   string  `json:"type"`
		Others members `json:",embed"`
	} `json:"limit"`
	Attachments map[string]string `json:"attachments"`
	Others      members           `json:",embed"`
}

// inspectUsage are the tokens of a model; input_tokens are without those of the cache.
type inspectUsage struct {
	In         *int64 `json:"input_tokens"`
	Out        *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"input_tokens_cache_read"`
	CacheWrite *int64 `json:"input_tokens_cache_write"`
	Reasoning  *int64 `json:"reasoning_tokens"`
}

// inspectEvent is an event; only calls of models are read.
type inspectEvent struct {
	Event     string         `json:"event"`
	Timestamp string         `json:"timestamp"`
	Completed string         `json:"completed"`
	Output    jsontext.Value `json:"output"`
}

// inspectOutput is what a model returned.
type inspectOutput struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
		StopReason string `json:"stop_reason"`
	} `json:"choices"`
	Usage *inspectUsage `json:"usage"`
}

func inspectSample(r *imports.Rows, eval *inspectEval, text []byte) error {
	var row inspectRow
	if err := imports.Decode(text, &row); err != nil {
		return err
	}
	if row.ID == nil {
		return errors.New("a sample of Inspect has id, epoch and messages")
	}
	if row.Epoch < 0 || row.Epoch > maxTrial || row.TotalTime < 0 || row.TotalTime > maxSeconds {
		return fmt.Errorf("epoch is %d and total_time %v, must be in range", row.Epoch, row.TotalTime)
	}
	for i := range row.Messages {
		row.attached(&row.Messages[i].Content)
	}
	list, err := messages(row.Messages, r, "samples[].messages[].")
	if err != nil {
		return err
	}
	e := &imports.Episode{Task: eval.Task + "." + padded(scalar(row.ID)), Candidate: eval.Model, Trial: max(1, row.Epoch), Crashed: failure(row.Error)}
	e.ID = fmt.Sprintf("%s/%d", e.Task, e.Trial)
	e.Provider, e.Model, _ = strings.Cut(eval.Model, "/")
	if e.Model == "" {
		e.Provider, e.Model = "", eval.Model
	}
	for _, at := range []string{row.StartedAt, eval.Created} {
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			e.Start = t.UnixMicro()
			break
		}
	}
	e.End = e.Start + int64(row.TotalTime*1e6)
	if row.Limit != nil {
		e.Failed = "the sample reached its limit: " + row.Limit.Type
		r.Unknown("samples[].limit.", row.Limit.Others)
	}
	e.Chat(list)
	row.calls(e)
	row.verdict(e, r)
	r.Unknown("samples[].", row.Others)
	r.Add(e)
	return nil
}

// attached puts an attachment in place of its name.
func (row *inspectRow) attached(v *jsontext.Value) {
	if name, ok := strings.CutPrefix(scalar(*v), "attachment://"); ok {
		if text, ok := row.Attachments[name]; ok {
			*v, _ = jsontext.AppendQuote(nil, text)
		}
	}
}

// calls adds what the events tell of each turn, by the id of its message.
func (row *inspectRow) calls(e *imports.Episode) {
	turns, n := map[string]*imports.Turn{}, 0
	for _, m := range row.Messages {
		if m.Role == imports.RoleAssistant && n < len(e.Turns) {
			if m.ID != "" {
				turns[m.ID] = &e.Turns[n]
			}
			n++
		}
	}
	for i := range row.Events {
		event := &row.Events[i]
		var out inspectOutput
		if event.Event != "model" || imports.Decode(event.Output, &out) != nil || len(out.Choices) == 0 {
			continue
		}
		t := turns[out.Choices[0].Message.ID]
		if t == nil {
			continue
		}
		t.Served, t.Finish = out.Model, out.Choices[0].StopReason
		if out.Usage != nil {
			t.Tokens = out.Usage.tokens()
		}
		from, err1 := time.Parse(time.RFC3339, event.Timestamp)
		to, err2 := time.Parse(time.RFC3339, event.Completed)
		if err1 == nil && err2 == nil && !to.Before(from) {
			t.Start, t.End = from.UnixMicro(), to.UnixMicro()
		}
	}
	if u, ok := row.Usage[cmp.Or(e.Provider+"/"+e.Model, e.Model)]; ok {
		e.Tokens = u.tokens()
	}
}

func (u inspectUsage) tokens() ledger.Tokens {
	t := ledger.Tokens{In: u.In, Out: u.Out, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning}
	if t.Out != nil && t.Reasoning != nil && *t.Reasoning <= *t.Out {
		t.Out = new(*t.Out - *t.Reasoning)
	}
	return t
}

// verdict reads the scores: an episode is solved if all of them are right. A sample without a score
// that is right or wrong has no verdict.
func (row *inspectRow) verdict(e *imports.Episode, r *imports.Rows) {
	v := &imports.Verdict{Solved: true}
	for _, name := range slices.Sorted(maps.Keys(row.Scores)) {
		s := row.Scores[name]
		r.Unknown("samples[].scores.", s.Others)
		right, known := correct(s.Value)
		if !known {
			r.LeftOut("score " + name + " that is neither right nor wrong")
			continue
		}
		c := ledger.Check{Name: name, Passed: right, Detail: "value " + scalar(s.Value)}
		if !right && s.Explanation != nil {
			c.Detail += ": " + *s.Explanation
		}
		v.Checks = append(v.Checks, c)
		v.Solved = v.Solved && right
	}
	if len(v.Checks) > 0 {
		e.Verdict = v
	}
}

// correct reads a score as Inspect's accuracy does: C, true, yes and 1 are right; I, P, N, false, no and
// numbers below 1 are not.
func correct(v jsontext.Value) (right, known bool) {
	switch v.Kind() {
	case 't', 'f':
		return v.Kind() == 't', true
	case '0':
		var n float64
		known = imports.Decode(v, &n) == nil
		return known && n >= 1, known
	case '"':
		switch strings.ToLower(scalar(v)) {
		case "c", "yes", "true", "1", "1.0":
			return true, true
		case "i", "p", "n", "no", "false", "0", "0.0":
			return false, true
		}
	}
	return false, false
}
