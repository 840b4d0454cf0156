package imports

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	fast "github.com/go-json-experiment/json"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/providers"
)

// TextsFile has the texts of an imported run, sealed: one JSON line per episode in ledger order.
const TextsFile = "texts.jsonl"

// unknown stands for a text that the source does not have.
const unknown = "(unknown: not in the imported files)"

// texts is a line of TextsFile.
type texts struct {
	Run     string      `json:"run"`
	Episode string      `json:"episode"`
	Answer  *string     `json:"answer,omitzero"`
	Turns   []Said      `json:"turns"`
	Calls   []callTexts `json:"calls"`
}

type callTexts struct {
	Args   *string `json:"args,omitzero"`
	Result *string `json:"result,omitzero"`
	Failed string  `json:"failed,omitempty"`
}

// writeTexts writes TextsFile and returns the SHA-256 of its lines. each calls line with the episodes
// in ledger order.
func writeTexts(dir string, each func(line func(*Episode) error) error, run string) (digest string, err error) {
	h := sha256.New()
	err = sealed.Write(filepath.Join(dir, TextsFile), func(w io.Writer) error {
		var line []byte
		return each(func(e *Episode) error {
			t := texts{Run: run, Episode: fmt.Sprintf("%s/%s/%d", e.Task, e.Candidate, e.Trial), Answer: e.Answer, Turns: []Said{}, Calls: []callTexts{}}
			for _, turn := range e.Turns {
				t.Turns = append(t.Turns, turn.Said)
			}
			for _, c := range e.Calls {
				t.Calls = append(t.Calls, callTexts{c.Args, c.Result, c.Failed})
			}
			text, err := fast.Marshal(t)
			if err != nil {
				return err
			}
			line = append(append(line[:0], text...), '\n')
			h.Write(line)
			_, err = w.Write(line)
			return err
		})
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// Texts reads the texts of an imported run. Close it.
type Texts struct {
	file io.ReadCloser
	at   map[string][2]int64 // offset and length of an episode's line
}

// OpenTexts opens the texts of the run in dir. A missing or changed file, or that of another run,
// is a *sealed.CorruptError.
func OpenTexts(dir string, m manifest.Manifest) (*Texts, error) {
	path := filepath.Join(dir, TextsFile)
	f, err := sealed.Open(path)
	if err != nil {
		return nil, err
	}
	t := &Texts{file: f, at: map[string][2]int64{}}
	h, lines, at := sha256.New(), bufio.NewReader(f), int64(0)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			break
		}
		var head struct{ Episode string }
		if err == nil {
			err = json.Unmarshal(line, &head)
		}
		if err != nil {
			return nil, errors.Join(sealed.Damage(path, err), f.Close())
		}
		h.Write(line)
		t.at[head.Episode] = [2]int64{at, int64(len(line))}
		at += int64(len(line))
	}
	if digest := hex.EncodeToString(h.Sum(nil)); digest != m.Imported.Texts {
		err := errors.New("it does not belong to the " + manifest.File + " beside it; " + sealed.Fix)
		return nil, errors.Join(sealed.Damage(path, err), f.Close())
	}
	return t, nil
}

// Close closes the file.
func (t *Texts) Close() error { return t.file.Close() }

// Traces returns what happened in an episode, as the source tells it.
func (t *Texts) Traces(rows ledger.EpisodeRows) ([]episode.Trace, error) {
	said, err := t.of(rows)
	if err != nil {
		return nil, err
	}
	out := callTraces(nil, rows, said.Calls, 0)
	var before *providers.Call
	for i := range rows.Turns {
		row := &rows.Turns[i]
		t := turnTrace(row, said.Turns[i], before)
		out, before = append(out, t), t.Call
		out = callTraces(out, rows, said.Calls, row.Turn)
	}
	return append(out, end(rows, said, out)), nil
}

// of returns the texts of an episode.
func (t *Texts) of(rows ledger.EpisodeRows) (said texts, err error) {
	name := fmt.Sprintf("%s/%s/%d", rows.Episode.TaskID, rows.Episode.Candidate, rows.Episode.Trial)
	place, ok := t.at[name]
	line := make([]byte, place[1])
	if _, err := t.file.(io.ReaderAt).ReadAt(line, place[0]); !ok || err != nil {
		return said, errors.Join(fmt.Errorf("%s has no texts of %s", TextsFile, name), err)
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return said, err
	}
	if len(said.Turns) != len(rows.Turns) || len(said.Calls) != len(rows.ToolCalls) {
		return said, fmt.Errorf("%s has %d turns and %d calls of %s, the ledger %d and %d", TextsFile, len(said.Turns), len(said.Calls), name, len(rows.Turns), len(rows.ToolCalls))
	}
	return said, nil
}

// turnTrace returns what a turn was asked and said; before is the prompt of the one before.
func turnTrace(row *ledger.Turn, said Said, before *providers.Call) episode.Trace {
	call := providers.Call{Model: row.Model, System: said.System}
	if said.More && before != nil {
		call.System, call.Messages = before.System, slices.Clone(before.Messages)
	}
	for _, m := range said.Messages {
		call.Messages = append(call.Messages, providers.Message{Role: m.Role, Text: m.Text, CallID: m.CallID, Failed: m.Failed != "", Calls: proposals(m.Calls)})
	}
	t := episode.Trace{Turn: row, Call: &call, Answer: &providers.Reply{Calls: proposals(said.Calls)}}
	switch {
	case row.ErrorKind != "":
		t.Err = errors.New(row.Reason)
	case said.Output != nil:
		t.Answer.Text = *said.Output
	case len(said.Calls) == 0:
		t.Answer.Text = unknown
	}
	return t
}

func proposals(list []Proposal) (out []providers.ToolCall) {
	for _, p := range list {
		out = append(out, providers.ToolCall{ID: p.ID, Name: p.Name, Args: p.Args})
	}
	return out
}

// callTraces adds the calls of a turn.
func callTraces(out []episode.Trace, rows ledger.EpisodeRows, said []callTexts, turn int32) []episode.Trace {
	for i := range rows.ToolCalls {
		row := &rows.ToolCalls[i]
		if row.Turn != turn {
			continue
		}
		text := func(s *string) []byte {
			if s == nil {
				return []byte(unknown)
			}
			return []byte(*s)
		}
		c := agent.CallTool{Call: tool.Call{Name: row.ToolName, Args: text(said[i].Args)}, Key: row.IdempotencyKey, ArgsHash: row.ArgsHash}
		r := tool.Result{Outcome: tool.Outcome(row.Outcome), Value: text(said[i].Result)}
		if r.Outcome != tool.OK {
			r.Message = strings.Join(strings.Fields(said[i].Failed), " ")
		}
		out = append(out, episode.Trace{Tool: &c, Result: &r, Asked: int(turn)})
	}
	return out
}

// end returns the last trace of an episode.
func end(rows ledger.EpisodeRows, said texts, before []episode.Trace) episode.Trace {
	f := agent.Finish{Status: agent.Status(rows.Episode.Status), StopReason: agent.StopReason(rows.Episode.StopReason), Answer: unknown}
	o := goldens.Outcome{Status: string(agent.Answered), Steps: int(rows.Episode.Steps), ModelCalls: len(rows.Turns)}
	if said.Answer != nil {
		f.Answer, o.Answer = *said.Answer, *said.Answer
	}
	for _, t := range before {
		if t.Tool != nil {
			o.Calls = append(o.Calls, goldens.Called{Call: t.Tool.Call, Outcome: t.Result.Outcome, Result: t.Result.Value})
		}
	}
	return episode.Trace{Finish: &f, Outcome: &o}
}
