package providertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// toyTrial returns the toy under test, with the given factory.
func toyTrial(factory providers.Factory) Served {
	transport, malformed := []fault.Kind{fault.Transport}, []fault.Kind{fault.Malformed}
	limit := []fault.Kind{fault.RateLimit}
	return Served{
		New: factory, Base: "/v1", Handler: http.HandlerFunc(toyServer), Model: "probe", ChaosHeader: "X-Toy-Chaos",
		Chaos: []Chaos{
			{Name: "limited", Whole: limit, Stream: limit, Wait: 2 * time.Second},
			{Name: "cut", Whole: transport, Stream: transport},
			{Name: "hollow", Whole: malformed, Paid: true},
			{Name: "chatty"},
		},
	}
}

// TestServed checks that a correct provider passes every case.
func TestServed(t *testing.T) { RunServed(t, toyTrial(newToy)) }

// bent is the toy with wrong calls or replies.
type bent struct {
	providers.Model
	options providers.Options
	before  func(*providers.Call)
	after   func(*providers.Reply)
	failed  func(error) error
	call    func(ctx context.Context, m providers.Model, c providers.Call) (providers.Reply, error)
}

func (b bent) Call(ctx context.Context, c providers.Call) (providers.Reply, error) {
	if b.before != nil {
		b.before(&c)
	}
	if b.call != nil {
		return b.call(ctx, b.Model, c)
	}
	r, err := b.Model.Call(ctx, c)
	if b.after != nil {
		b.after(&r)
	}
	if err != nil && b.failed != nil {
		err = b.failed(err)
	}
	return r, err
}

// TestBrokenWiresFail checks that each fault fails the cases for it.
func TestBrokenWiresFail(t *testing.T) {
	as := func(kind fault.Kind) func(error) error {
		return func(err error) error {
			var e *fault.Error
			if errors.As(err, &e) {
				changed := *e
				changed.Kind = kind
				return &changed
			}
			return err
		}
	}
	edited := func(edit func(*fault.Error)) func(error) error {
		return func(err error) error {
			var e *fault.Error
			if errors.As(err, &e) {
				changed := *e
				edit(&changed)
				return &changed
			}
			return err
		}
	}
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for name, c := range map[string]struct {
		bent  bent
		cases []string
	}{
		"loses text":                {bent{after: func(r *providers.Reply) { r.Text = r.Text[:len(r.Text)/2] }}, []string{"text", "text, streamed", "long text", "conversation", "mixed concurrent calls"}},
		"mixes reasoning into text": {bent{after: func(r *providers.Reply) { r.Text = r.Reasoning + r.Text }}, []string{"reasoning", "reasoning, streamed"}},
		"loses usage":               {bent{after: func(r *providers.Reply) { r.Usage, r.RawUsage = providers.Usage{}, nil }}, []string{"usage", "usage, streamed", "cache reads", "cache writes", "chaos hollow"}},
		"counts the cache twice":    {bent{after: func(r *providers.Reply) { r.Usage.CacheRead *= 2 }}, []string{"cache reads"}},
		"loses usage of streams": {bent{after: func(r *providers.Reply) {
			if r.FirstToken > 0 {
				r.Usage = providers.Usage{}
			}
		}}, []string{"usage, streamed", "text, streamed"}},
		"loses the last call": {bent{after: func(r *providers.Reply) { r.Calls = r.Calls[:max(0, len(r.Calls)-1)] }}, []string{"tool call", "parallel calls", "tool loop"}},
		"gives two calls one id": {bent{after: func(r *providers.Reply) {
			for i := range r.Calls {
				r.Calls[i].ID = "x"
			}
		}}, []string{"parallel calls"}},
		"rounds numbers": {bent{after: func(r *providers.Reply) {
			for i := range r.Calls {
				r.Calls[i].Args = `{"city":"Zürich","n":1.2345678901e10}`
			}
		}}, []string{"tool call"}},
		"calls every end a stop":  {bent{after: func(r *providers.Reply) { r.Finish = providers.FinishStop }}, []string{"finish length", "finish refusal", "tool call", "forced_tool"}},
		"has no times":            {bent{after: func(r *providers.Reply) { r.FirstToken, r.Frames = 0, nil }}, []string{"text, streamed"}},
		"has times run backwards": {bent{after: func(r *providers.Reply) { slices.Reverse(r.Frames) }}, []string{"long text, streamed"}},
		"does not stream":         {bent{before: func(c *providers.Call) { c.Stream = false }}, []string{"text, streamed", "cancellation in the middle, streamed"}},
		"streams unasked":         {bent{before: func(c *providers.Call) { c.Stream = true }}, []string{"text"}},
		"hands no pieces out":     {bent{before: func(c *providers.Call) { c.OnDelta = nil }}, []string{"text, streamed", "tool call, streamed"}},
		"hands pieces out twice": {bent{before: func(c *providers.Call) {
			if f := c.OnDelta; f != nil {
				c.OnDelta = func(d providers.Delta) { f(d); f(d) }
			}
		}}, []string{"text, streamed", "tool call, streamed"}},
		"drops the system prompt": {bent{before: func(c *providers.Call) { c.System = "" }}, []string{"system"}},
		"drops images": {bent{before: func(c *providers.Call) {
			c.Messages = slices.Clone(c.Messages)
			for i := range c.Messages {
				c.Messages[i].Images = nil
			}
		}}, []string{"image bytes", "image URL"}},
		"drops stop sequences":  {bent{before: func(c *providers.Call) { c.Stop = nil }}, []string{"settings", "finish stop sequence"}},
		"drops the temperature": {bent{before: func(c *providers.Call) { c.Temperature = nil }}, []string{"settings"}},
		"drops the seed unsaid": {bent{before: func(c *providers.Call) { c.Seed = nil }}, []string{"settings"}},
		"drops the limit":       {bent{before: func(c *providers.Call) { c.MaxTokens = 9999 }}, []string{"settings", "finish length"}},
		"drops the choice":      {bent{before: func(c *providers.Call) { c.Choice = providers.Choice{} }}, []string{"tool choice none", "tool choice any", "tool choice named", "calls that cannot be sent"}},
		"drops serial":          {bent{before: func(c *providers.Call) { c.Serial = false }}, []string{"serial"}},
		"drops the format":      {bent{before: func(c *providers.Call) { c.Format = nil }}, []string{"forced_tool", "calls that cannot be sent"}},
		"drops results": {bent{before: func(c *providers.Call) {
			c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), func(m providers.Message) bool { return m.Role == providers.RoleTool })
		}}, []string{"tool loop", "failed tool result"}},
		"turns results round": {bent{before: func(c *providers.Call) {
			if len(c.Messages) > 3 {
				c.Messages = slices.Clone(c.Messages)
				slices.Reverse(c.Messages[2:])
			}
		}}, []string{"tool loop with parallel calls"}},
		"hides that a tool failed": {bent{before: func(c *providers.Call) {
			c.Messages = slices.Clone(c.Messages)
			for i := range c.Messages {
				c.Messages[i].Failed = false
			}
		}}, []string{"failed tool result"}},
		"sends chance":               {bent{before: func(c *providers.Call) { c.System = fmt.Sprint(rand.Int()) }}, []string{"requests are deterministic"}},
		"calls all errors transport": {bent{failed: as(fault.Transport)}, []string{"unknown model", "chaos limited", "deadline in the middle", "small body limit", "calls that cannot be sent"}},
		"calls all errors malformed": {bent{failed: as(fault.Malformed)}, []string{"chaos cut", "chaos cut, streamed", "cancellation in the middle, streamed"}},
		"takes errors for replies":   {bent{failed: func(error) error { return nil }}, []string{"chaos cut", "unknown model", "small body limit", "deadline in the middle"}},
		"tells the key":              {bent{failed: edited(func(e *fault.Error) { e.Message += canary })}, []string{"unknown model", "chaos limited"}},
		"says nothing of parts":      {bent{failed: edited(func(e *fault.Error) { e.Partial = false })}, []string{"chaos cut, streamed", "deadline in the middle, streamed"}},
		"forgets when to come back":  {bent{failed: edited(func(e *fault.Error) { e.RetryAfter = 0 })}, []string{"chaos limited"}},
		"loses the cause":            {bent{failed: edited(func(e *fault.Error) { e.Err = nil })}, []string{"deadline in the middle"}},
		"loses what had come": {bent{call: func(ctx context.Context, m providers.Model, c providers.Call) (providers.Reply, error) {
			r, err := m.Call(ctx, c)
			if err != nil {
				return providers.Reply{Status: r.Status}, err
			}
			return r, nil
		}}, []string{"deadline in the middle, streamed", "chaos cut, streamed", "chaos hollow"}},
		"leaves a goroutine behind": {bent{before: func(*providers.Call) { go func() { <-forever }() }}, []string{"text"}},
		"panics":                    {bent{before: func(*providers.Call) { panic("oh") }}, []string{"text"}},
		"answers by itself": {bent{call: func(context.Context, providers.Model, providers.Call) (providers.Reply, error) {
			return providers.Reply{Text: prose, Status: 200, Model: "m", Finish: providers.FinishStop, FinishRaw: "stop"}, nil
		}}, []string{"requests are deterministic", "chaos chatty", "settings", "extra header, query and body"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := toyTrial(func(o providers.Options) (providers.Model, error) {
				m, err := newToy(o)
				c.bent.Model, c.bent.options = m, o
				return c.bent, err
			})
			for _, want := range c.cases {
				i := slices.IndexFunc(s.cases(), func(c trialCase) bool { return c.name == want })
				require.GreaterOrEqual(t, i, 0, "no case %s", want)
				require.NotEmpty(t, s.judge(s.cases()[i]), "%s did not notice", want)
			}
		})
	}
}

// TestSkips checks that a case that passes must not be skipped, nor an unknown one.
func TestSkips(t *testing.T) {
	s := toyTrial(func(o providers.Options) (providers.Model, error) {
		m, err := newToy(o)
		return bent{Model: m, before: func(c *providers.Call) { c.System = "" }}, err
	})
	s.Skip = map[string]string{"system": "no system prompts", "conversation": "too shy", "sytsem": "a slip", "text, whole": "no such name"}
	require.Equal(t, []string{"sytsem", "text, whole"}, s.unknownSkips())
	for _, c := range s.cases() {
		switch c.name {
		case "system", "system, streamed":
			problem, reason := s.verdict(c)
			require.Empty(t, problem)
			require.Equal(t, "no system prompts", reason)
		case "conversation":
			problem, _ := s.verdict(c)
			require.Contains(t, problem, "too shy")
		case "conversation, streamed":
			problem, reason := s.verdict(c)
			require.Empty(t, problem+reason)
		case "text":
			problem, reason := s.verdict(c)
			require.Empty(t, problem+reason)
		}
	}
}
