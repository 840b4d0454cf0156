package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// The toy is an API format of our own with its server. It tries the suite on a provider
// that is correct in every case.

type toyRequest struct {
	Model       string              `json:"model"`
	System      string              `json:"system,omitempty"`
	Messages    []providers.Message `json:"messages"`
	Tools       []providers.Tool    `json:"tools,omitempty"`
	Choice      providers.Choice    `json:"choice"`
	Serial      bool                `json:"serial,omitempty"`
	MaxTokens   int                 `json:"max_tokens"`
	Temperature *float64            `json:"temperature,omitempty"`
	Stop        []string            `json:"stop,omitempty"`
	Format      *providers.Format   `json:"format,omitempty"`
	Stream      bool                `json:"stream,omitempty"`
}

// toyPiece is a complete reply, or a frame of a stream.
type toyPiece struct {
	ID        string               `json:"id,omitempty"`
	Model     string               `json:"model,omitempty"`
	Text      string               `json:"text,omitempty"`
	Reasoning string               `json:"reasoning,omitempty"`
	Refusal   string               `json:"refusal,omitempty"`
	Calls     []providers.ToolCall `json:"calls,omitempty"`
	Args      string               `json:"args,omitempty"` // the arguments of the latest call
	Finish    providers.Finish     `json:"finish,omitempty"`
	Usage     json.RawMessage      `json:"usage,omitempty"`
	Error     string               `json:"error,omitempty"`
}

// newToy opens the provider of the toy.
func newToy(o providers.Options) (providers.Model, error) {
	c, err := wire.New(wire.Dialect{
		Authorize: func(h http.Header, key string) { h.Set("X-Toy-Key", key) },
		Kind:      func(wire.Fault) fault.Kind { return "" },
	}, o)
	if err != nil {
		return nil, err
	}
	return toy{c}, nil
}

type toy struct{ client *wire.Client }

func (m toy) Call(ctx context.Context, c providers.Call) (providers.Reply, error) {
	if err := m.client.Check(c, []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}); err != nil {
		return providers.Reply{}, err
	}
	var warnings []string
	if c.Seed != nil {
		warnings = append(warnings, "seed: not part of the toy, not sent")
	}
	return m.client.Do(ctx, c, wire.Request{Path: "/toy", Body: toyRequest{
		c.Model, c.System, c.Messages, c.Tools, c.Choice, c.Serial, c.MaxTokens, c.Temperature, c.Stop, c.Format, c.Stream,
	}}, &toyDecoder{}, warnings)
}

type toyDecoder struct{ call *wire.ToolCall }

func (d *toyDecoder) Whole(b *wire.Builder, body []byte) error {
	done, err := d.Frame(b, wire.Frame{Data: string(body)})
	if err == nil && !done {
		return fmt.Errorf("no finish")
	}
	return err
}

func (d *toyDecoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	var p toyPiece
	if err := json.Unmarshal([]byte(f.Data), &p); err != nil {
		return false, err
	}
	b.Usage(p.Usage, nil, func(raw json.RawMessage) (u providers.Usage, ok bool, err error) {
		return u, true, json.Unmarshal(raw, &u)
	})
	if p.Model != "" {
		b.Reply.Model, b.Reply.RequestID = p.Model, p.ID
	}
	b.Reasoning(p.Reasoning)
	b.Text(p.Text)
	b.Refusal(p.Refusal)
	for _, c := range p.Calls {
		d.call = b.Call("", c.ID, c.Name)
		d.call.Args(c.Args)
	}
	if p.Args != "" {
		d.call.Args(p.Args)
	}
	b.Reply.Finish, b.Reply.FinishRaw = p.Finish, string(p.Finish)
	return p.Finish != "", nil
}

// toyServer is the server of the toy, which behaves like the model sim-probe.
func toyServer(w http.ResponseWriter, r *http.Request) {
	var q toyRequest
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if q.Model != "probe" {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		return
	}
	p := toyAnswer(q)
	chaos := r.Header.Get("X-Toy-Chaos")
	w.Header().Set("X-Toy-Chaos", chaos)
	var frames []string
	write := func(p toyPiece) {
		text, _ := json.Marshal(p)
		frames = append(frames, string(text))
	}
	if q.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		write(toyPiece{ID: p.ID, Model: p.Model, Reasoning: p.Reasoning, Refusal: p.Refusal})
		for _, word := range strings.SplitAfter(p.Text, " ") {
			write(toyPiece{Text: word})
		}
		for _, c := range p.Calls {
			half := len(c.Args) / 2
			for half > 0 && c.Args[half] >= 0x80 {
				half--
			}
			write(toyPiece{Calls: []providers.ToolCall{{ID: c.ID, Name: c.Name, Args: c.Args[:half]}}})
			write(toyPiece{Args: c.Args[half:]})
		}
		write(toyPiece{Finish: p.Finish, Usage: p.Usage})
		for i := range frames {
			frames[i] = "data: " + frames[i] + "\n\n"
		}
	} else {
		write(p)
	}
	body := strings.Join(frames, "")
	switch {
	case chaos == "limited":
		w.Header().Set("Retry-After", "2")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	case chaos == "cut":
		_, _ = w.Write([]byte(body[:len(body)*2/3]))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case chaos == "hollow" && !q.Stream:
		p.Text, p.Calls, p.Finish = "", nil, ""
		_ = json.NewEncoder(w).Encode(p)
	case chaos == "chatty" && q.Stream:
		_, _ = w.Write([]byte(strings.Join(frames, ": hm\n\n")))
	default:
		_, _ = w.Write([]byte(body))
	}
}

// toyAnswer follows the last message of the user.
func toyAnswer(q toyRequest) toyPiece {
	last, stage, images := "", 0, []providers.Image(nil)
	var results []string
	for _, m := range q.Messages {
		switch m.Role {
		case providers.RoleUser:
			last, stage, images = m.Text, 0, m.Images
		case providers.RoleAssistant:
			stage++
		case providers.RoleTool:
			word := " -> "
			if m.Failed {
				word = " failed: "
			}
			results = append(results, m.Name+word+m.Text)
		}
	}
	p := toyPiece{ID: "id-1", Model: "probe-1", Finish: providers.FinishStop}
	u := providers.Usage{Input: 5, Output: 7}
	text := func(s string) string {
		var out string
		if json.Unmarshal([]byte(s), &out) == nil {
			return out
		}
		return s
	}
	scripts := strings.Split(last, "\nthen\n")
	for line := range strings.Lines(scripts[min(stage, len(scripts)-1)]) {
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		switch word {
		case "say":
			p.Text += text(rest)
		case "think":
			p.Reasoning, u.Reasoning = text(rest), 3
		case "refuse":
			p.Refusal, p.Finish = text(rest), providers.FinishRefusal
		case "call":
			name, args, _ := strings.Cut(rest, " ")
			if !q.Serial || len(p.Calls) == 0 {
				p.Calls = append(p.Calls, providers.ToolCall{ID: fmt.Sprintf("c%d", len(p.Calls)), Name: name, Args: args})
				p.Finish = providers.FinishTools
			}
		case "fill":
			n, _ := strconv.Atoi(rest)
			for i := range n {
				p.Text += fmt.Sprintf("w%d ", i+1)
			}
		case "cached":
			_, _ = fmt.Sscan(rest, &u.CacheRead, &u.CacheWrite)
		case "system":
			p.Text += q.System
		case "results":
			p.Text += strings.Join(results, "\n")
		case "describe":
			p.Text += toyPicture(images)
		}
	}
	if at := strings.Index(p.Text, "HALT"); at >= 0 && len(q.Stop) > 0 {
		p.Text = p.Text[:at]
	}
	if words := strings.SplitAfter(p.Text, " "); q.MaxTokens < len(words) {
		p.Text, p.Finish = strings.Join(words[:q.MaxTokens], ""), providers.FinishLength
	}
	p.Usage, _ = json.Marshal(u)
	return p
}

func toyPicture(images []providers.Image) string {
	var b strings.Builder
	for i, picture := range images {
		if picture.URL != "" {
			fmt.Fprintf(&b, "image %d: %s\n", i+1, picture.URL)
			continue
		}
		c, _ := png.DecodeConfig(bytes.NewReader(picture.Data))
		fmt.Fprintf(&b, "image %d: %s %dx%d, %d bytes\n", i+1, picture.MediaType, c.Width, c.Height, len(picture.Data))
	}
	return b.String()
}
