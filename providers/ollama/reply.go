package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a body, or of one line of a stream. The text of
// /api/chat is in message, that of /api/generate at top level.
type response struct {
	Model    string  `json:"model"`
	Message  *answer `json:"message"`
	Response *string `json:"response"`
	Thinking string  `json:"thinking"`

	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Error      json.RawMessage `json:"error"`
	metrics
}

type answer struct {
	Content   string `json:"content"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	} `json:"tool_calls"`
}

// finishes maps done_reason. load and unload answer requests without a prompt.
var finishes = map[string]providers.Finish{"stop": providers.FinishStop, "length": providers.FinishLength}

// decoder reads replies into a wire.Builder.
type decoder struct {
	thinking strings.Builder
	answered bool // a message has come, were it empty
}

// Whole implements wire.Decoder. A server that streams although it was not asked
// to sends several documents.
func (d *decoder) Whole(b *wire.Builder, body []byte) (err error) {
	var r response
	if wire.Unmarshal(body, &r) == nil {
		b.Complete, err = d.add(b, r, body)
		return err
	}
	b.Complete = false
	dec := json.NewDecoder(bytes.NewReader(body))
	for n := 1; ; n++ {
		var r response
		from := dec.InputOffset()
		err := dec.Decode(&r)
		switch {
		case errors.Is(err, io.EOF) && n > 1:
			return nil
		case err != nil:
			return fmt.Errorf("decode reply: document %d: %w", n, err)
		case b.Complete:
			return errors.New("decode reply: something follows the last document")
		}
		if b.Complete, err = d.add(b, r, body[from:dec.InputOffset()]); err != nil {
			return err
		}
	}
}

// Frame implements wire.Decoder.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	var r response
	if err := wire.Unmarshal([]byte(f.Data), &r); err != nil {
		return false, fmt.Errorf("decode line: %w", err)
	}
	return d.add(b, r, []byte(f.Data))
}

// add folds one document. done reports that it is the last.
func (d *decoder) add(b *wire.Builder, r response, document []byte) (done bool, err error) {
	if r.Model != "" {
		b.Reply.Model = r.Model
	}
	if wire.Given(r.Error) {
		text, _ := json.Marshal(map[string]json.RawMessage{"error": r.Error}) // it has been parsed before
		f := wire.ReadFault(text)
		return false, &f
	}
	d.answered = d.answered || r.Message != nil || r.Response != nil
	d.think(b, r.Thinking)
	if m := r.Message; m != nil {
		d.think(b, m.Thinking)
		b.Text(m.Content)
		for _, c := range m.ToolCalls {
			if c.Type != "" && c.Type != "function" {
				b.LeftOut(c.Type)
				continue
			}
			b.Call("", c.ID, c.Function.Name).Args(readArgs(c.Function.Arguments))
		}
	}
	if r.Response != nil {
		b.Text(*r.Response)
	}
	if r.Done {
		d.end(b, r)
		others(&b.Reply.Usage, document)
	}
	if !d.answered {
		return false, errors.New("decode reply: no message")
	}
	return r.Done, nil
}

func (d *decoder) think(b *wire.Builder, s string) {
	b.Reasoning(s)
	d.thinking.WriteString(s)
}

// end reads what is in the last document only. Servers before 0.1.38 give no
// reason. Calls come with the reason stop.
func (d *decoder) end(b *wire.Builder, r response) {
	b.Reply.FinishRaw = r.DoneReason
	b.Reply.Finish = providers.FinishOther
	if f, ok := finishes[r.DoneReason]; ok {
		b.Reply.Finish = f
	}
	if b.Calls() > 0 {
		b.Reply.Continuation = newContinuation(d.thinking.String())
		if r.DoneReason == "" {
			b.Reply.Finish = providers.FinishTools
		}
	}
	r.count(b)
}

// readArgs returns arguments as JSON text: the object as it came, of servers in
// between that write text, the text.
func readArgs(raw json.RawMessage) string {
	var text string
	switch {
	case string(raw) == "null":
		return ""
	case bytes.HasPrefix(raw, []byte(`"`)) && wire.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}
