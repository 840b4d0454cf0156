package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// ask makes a call that must succeed.
type ask func(providers.Call) providers.Reply

// dialogue is what is said to the probe and what must come back. It is held
// twice, whole and streamed, and must end in the same reply.
type dialogue struct {
	name string
	hold func(t require.TestingT, b *bench, ask ask) providers.Reply
}

// dialogueCases makes two cases of each dialogue.
func (s Served) dialogueCases() []trialCase {
	var cases []trialCase
	for _, d := range slices.Concat(talks(), endingTalks(), toolTalks()) {
		cases = append(cases,
			trialCase{d.name, func(t require.TestingT, b *bench) { d.hold(t, b, b.ask(t, false)) }},
			trialCase{d.name + twin, func(t require.TestingT, b *bench) {
				whole := d.hold(t, b, b.ask(t, false))
				sameReply(t, whole, d.hold(t, b, b.ask(t, true)))
			}})
	}
	return cases
}

// ask asks the wire as it is.
func (b *bench) ask(t require.TestingT, stream bool) ask {
	m := b.wire(t, nil)
	return func(c providers.Call) providers.Reply {
		c.Stream = stream
		r, pieces, err := b.call(background, m, c)
		require.NoError(t, err)
		requireReply(t, r)
		if stream {
			requireStream(t, r, pieces, c)
		} else {
			require.Empty(t, pieces, "nobody asked for a stream")
			require.Zero(t, r.FirstToken)
			require.Empty(t, r.Frames)
		}
		return r
	}
}

// prose has what breaks on the way: quotes, markup, characters of 2 to 4 bytes.
const prose = "Grüße, \"日本\" 🙂 <b>&amp;</b> \\n\nnew line\ttab"

// sayProse is the directive to say it.
func sayProse() string {
	text, _ := json.Marshal(prose) // a string always encodes
	return "say " + string(text)
}

// talk is a dialogue of one call.
func talk(name string, c providers.Call, check func(t require.TestingT, r providers.Reply)) dialogue {
	return dialogue{name, func(t require.TestingT, _ *bench, ask ask) providers.Reply {
		r := ask(c)
		check(t, r)
		return r
	}}
}

// with changes a call.
func with(c providers.Call, change func(*providers.Call)) providers.Call {
	change(&c)
	return c
}

// jsonCall asks for an object in one of the modes.
func jsonCall(mode providers.Mode, line string) providers.Call {
	return with(saying(line), func(c *providers.Call) {
		c.System = "Answer in JSON."
		c.Format = &providers.Format{Mode: mode, Name: formatTool, Schema: []byte(formatSchema)}
	})
}

// talks are dialogues without tools: what is asked for, and what comes back.
func talks() []dialogue {
	object := `{"city":"Zürich"}`
	return []dialogue{
		talk("text", saying(sayProse()), func(t require.TestingT, r providers.Reply) {
			require.Equal(t, prose, r.Text)
			require.Equal(t, providers.FinishStop, r.Finish)
			require.Empty(t, r.Reasoning+r.Refusal)
			require.Empty(t, r.Calls)
			require.Empty(t, r.Warnings)
		}),
		talk("long text", saying("fill 60"), func(t require.TestingT, r providers.Reply) {
			require.Len(t, strings.Fields(r.Text), 60)
			require.True(t, r.FirstToken == 0 || len(r.Frames) > 1, "a stream of 60 words came in one piece")
		}),
		talk("request id", saying("say ok"), func(t require.TestingT, r providers.Reply) { require.NotEmpty(t, r.RequestID) }),
		talk("served model", saying("say ok"), func(t require.TestingT, r providers.Reply) { require.NotEmpty(t, r.Model) }),
		talk("system", with(saying("system"), func(c *providers.Call) { c.System = "Be a lighthouse." }), func(t require.TestingT, r providers.Reply) {
			require.Contains(t, r.Text, "Be a lighthouse.")
		}),
		talk("conversation", providers.Call{MaxTokens: 100, Messages: []providers.Message{
			{Role: providers.RoleUser, Text: "say one"}, {Role: providers.RoleAssistant, Text: "one"}, {Role: providers.RoleUser, Text: "say two"},
		}}, func(t require.TestingT, r providers.Reply) { require.Equal(t, "two", r.Text) }),
		talk("reasoning", saying("think step one", "say done"), func(t require.TestingT, r providers.Reply) {
			require.Equal(t, "step one", r.Reasoning)
			require.Equal(t, "done", r.Text)
		}),
		talk(string(providers.JSONObject), jsonCall(providers.JSONObject, "say "+object), func(t require.TestingT, r providers.Reply) {
			require.JSONEq(t, object, r.Text)
			require.Equal(t, providers.FinishStop, r.Finish)
		}),
		talk(string(providers.JSONSchema), jsonCall(providers.JSONSchema, "say "+object), func(t require.TestingT, r providers.Reply) {
			require.JSONEq(t, object, r.Text)
			require.Equal(t, providers.FinishStop, r.Finish)
		}),
		talk(string(providers.ForcedTool), jsonCall(providers.ForcedTool, "call "+formatTool+" "+object), func(t require.TestingT, r providers.Reply) {
			require.JSONEq(t, object, r.Text)
			require.Equal(t, providers.FinishTools, r.Finish)
			require.Empty(t, r.Warnings)
		}),
		imageTalk("image bytes", providers.Image{MediaType: "image/png", Data: picture()}, fmt.Sprintf("image 1: image/png 2x3, %d bytes", len(picture()))),
		imageTalk("image URL", providers.Image{MediaType: "image/png", URL: "https://example.com/cat.png"}, "image 1: https://example.com/cat.png"),
	}
}

// endingTalks are dialogues without tools: why a reply ended, and what it used.
func endingTalks() []dialogue {
	return []dialogue{
		talk("finish length", with(saying("fill 100"), func(c *providers.Call) { c.MaxTokens = 5 }), func(t require.TestingT, r providers.Reply) {
			require.Equal(t, providers.FinishLength, r.Finish)
			require.Less(t, len(strings.Fields(r.Text)), 100)
		}),
		talk("finish stop sequence", with(saying("say before HALT after"), func(c *providers.Call) { c.Stop = []string{"HALT"} }), func(t require.TestingT, r providers.Reply) {
			require.Equal(t, "before", strings.TrimSpace(r.Text))
			require.Equal(t, providers.FinishStop, r.Finish)
		}),
		talk("finish refusal", saying("refuse No."), func(t require.TestingT, r providers.Reply) {
			require.Equal(t, providers.FinishRefusal, r.Finish)
		}),
		talk("usage", saying("fill 20"), func(t require.TestingT, r providers.Reply) {
			require.True(t, r.Usage.Reported)
			require.Positive(t, r.Usage.Input)
			require.Positive(t, r.Usage.Output)
			require.Zero(t, r.Usage.CacheRead+r.Usage.CacheWrite+r.Usage.Reasoning)
			require.True(t, json.Valid(r.RawUsage), "raw usage: %s", r.RawUsage)
		}),
		talk("cache reads", saying("cached 7 0", "say ok"), func(t require.TestingT, r providers.Reply) { require.EqualValues(t, 7, r.Usage.CacheRead) }),
		talk("cache writes", saying("cached 0 3", "say ok"), func(t require.TestingT, r providers.Reply) { require.EqualValues(t, 3, r.Usage.CacheWrite) }),
		talk("reasoning usage", saying("think "+strings.Repeat("hm ", 20), "say ok"), func(t require.TestingT, r providers.Reply) { require.Positive(t, r.Usage.Reasoning) }),
	}
}

// picture is a PNG of 2 by 3 pixels.
func picture() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 3))) // a buffer takes everything
	return b.Bytes()
}

func imageTalk(name string, picture providers.Image, want string) dialogue {
	c := saying("describe")
	c.Messages[0].Images = []providers.Image{picture}
	return talk(name, c, func(t require.TestingT, r providers.Reply) { require.Contains(t, r.Text, want) })
}
