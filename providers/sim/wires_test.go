package sim

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/providers/sim/internal/model"
	"github.com/stretchr/testify/require"
)

func testPNG(t testing.TB, w, h int) picture {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))))
	return picture{media: "image/png", data: b.Bytes()}
}

func testJPEG(t testing.TB, w, h int) picture {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil))
	return picture{media: "image/jpeg", data: b.Bytes()}
}

const strange = `say "Zwölf \"Boxkämpfer\"\n<b>&amp;</b> 今天天气 😀 \\ / \u2028 end"`

func TestSayOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 1})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		got := g.do(t, h, asked{stream: stream, turns: []utterance{user(strange)}})
		want := "Zwölf \"Boxkämpfer\"\n<b>&amp;</b> 今天天气 😀 \\ / \u2028 end"
		require.Equal(t, want, got.text)
		require.Equal(t, g.finishes["stop"], got.finish)
		require.Equal(t, model.Tokens(strange), got.in)
		require.Equal(t, model.Tokens(want), got.out)
		require.Zero(t, got.read+got.write+got.thought)
		require.Empty(t, got.calls)

		empty := g.do(t, h, asked{stream: stream, turns: []utterance{user("then")}})
		require.Empty(t, empty.text)
		require.Equal(t, g.finishes["stop"], empty.finish)
	})
}

func TestReasoningOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 2})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		got := g.do(t, h, asked{stream: stream, turns: []utterance{user("think first one thing, then another\nsay done")}})
		require.Equal(t, "done", got.text)
		if !g.noReasoning {
			require.Equal(t, "first one thing, then another", got.reasoning)
		}
		require.Equal(t, model.Tokens("done")+model.Tokens("first one thing, then another"), got.out, "it is counted in any case")
	})
}

func TestRefusalOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 3})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		got := g.do(t, h, asked{stream: stream, turns: []utterance{user("refuse I will not do that.")}})
		if g.sameRefusal {
			require.Equal(t, "I will not do that.", got.text)
		} else {
			require.Equal(t, "I will not do that.", got.refusal)
			require.Empty(t, got.text)
		}
		require.Equal(t, g.finishes["refusal"], got.finish)
	})
}

// TestCallsOnEveryWire makes two calls in parallel, and then sends their results.
func TestCallsOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 4})
	const request = "say looking\ncall get {\"a\": \"x y\", \"n\": 1.50}\ncall put\ncall other {}\nthen\nresults\nsay that is all"
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if g.noTools {
			got := g.do(t, h, asked{stream: stream, turns: []utterance{user(request)}})
			require.Equal(t, "looking\nno tool get\nno tool put\nno tool other", got.text)
			return
		}
		a := asked{stream: stream, tools: []string{"get", "put"}, turns: []utterance{user(request)}}
		first := g.do(t, h, a)
		require.Equal(t, "looking\nno tool other", first.text)
		require.Len(t, first.calls, 2)
		require.Equal(t, "get", first.calls[0].Name)
		require.JSONEq(t, `{"a":"x y","n":1.50}`, first.calls[0].Args)
		require.Equal(t, "put", first.calls[1].Name)
		require.Equal(t, "{}", first.calls[1].Args)
		require.NotEqual(t, first.calls[0].ID, first.calls[1].ID)
		require.Equal(t, g.finishes["tools"], first.finish)

		a.turns = append(a.turns, utterance{own: true, text: first.text, calls: first.calls}, utterance{results: []result{
			{id: first.calls[0].ID, name: "get", text: "one \"1\""}, {id: first.calls[1].ID, name: "put", text: "broken", failed: true},
		}})
		second := g.do(t, h, a)
		how := " failed: "
		if g.noFailed {
			how = " -> "
		}
		require.Equal(t, "get -> one \"1\"\nput"+how+"broken\nthat is all", second.text)
		require.Equal(t, g.finishes["stop"], second.finish)
		require.Empty(t, second.calls)

		a.turns = append(a.turns, utterance{own: true, text: second.text}, user("say again"))
		require.Equal(t, "again", g.do(t, h, a).text)
	})
}

func TestChoiceOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 5})
	ask := func(t *testing.T, g wireClient, stream bool, c choice, text string) heard {
		return g.do(t, h, asked{stream: stream, tools: []string{"get", "put"}, choice: c, turns: []utterance{user(text)}})
	}
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if g.noTools || g.noChoice {
			t.Skip("the wire has no choice of tools")
		}
		if g.name != "bedrock" { // its API cannot forbid calls
			require.Equal(t, "no tool get", ask(t, g, stream, choiceNone, "call get {}").text)
		}
		forced := ask(t, g, stream, choiceAny, `say {"a":1}`)
		require.Empty(t, forced.text)
		require.Len(t, forced.calls, 1)
		require.Equal(t, "get", forced.calls[0].Name)
		require.Equal(t, `{"a":1}`, forced.calls[0].Args)
		require.Equal(t, g.finishes["tools"], forced.finish)

		named := ask(t, g, stream, choiceNamed, "call get {\"b\":2}\ncall put {}")
		require.Equal(t, "get", named.calls[0].Name)
		require.JSONEq(t, `{"b":2}`, named.calls[0].Args)
		if g.name != "cohere" { // its API cannot require a named tool
			require.Len(t, named.calls, 1)
			require.Equal(t, "no tool put", named.text)
		}
		if !g.noSerial {
			got := g.do(t, h, asked{stream: stream, serial: true, tools: []string{"get", "put"}, turns: []utterance{user("call get {}\ncall put {}")}})
			require.Len(t, got.calls, 1)
		}
	})
}

// TestArgumentsThatAreNoObject: if the API sends arguments as text, they are unchanged;
// otherwise a complete reply has an empty object.
func TestArgumentsThatAreNoObject(t *testing.T) {
	h := Handler(Config{Seed: 5})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if g.noTools {
			t.Skip("the wire has no tools")
		}
		got := g.do(t, h, asked{stream: stream, tools: []string{"get"}, turns: []utterance{user(`call get {"a": [1, `)}})
		want := `{"a": [1,`
		switch g.name {
		case "anthropic", "bedrock":
			if !stream {
				want = "{}"
			}
		case "gemini", "gemini on vertex", "ollama":
			want = "{}"
		}
		require.Equal(t, want, got.calls[0].Args)
	})
}

func TestImagesOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 6})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		small, large := testPNG(t, 2, 3), testJPEG(t, 16, 9)
		images := []picture{small, large}
		want := fmt.Sprintf("image 1: image/png 2x3, %d bytes\nimage 2: image/jpeg 16x9, %d bytes", len(small.data), len(large.data))
		if !g.noImageURL {
			images = append(images, picture{url: "https://example.com/a.png"})
			want += "\nimage 3: https://example.com/a.png"
		}
		got := g.do(t, h, asked{stream: stream, turns: []utterance{user("describe", images...)}})
		require.Equal(t, want, got.text)
		require.Equal(t, imageTokens*len(images)+model.Tokens("describe"), got.in)

		for name, data := range map[string]string{"no image": "GIF89", "cut": string(small.data[:20])} {
			w := g.send(t, h, asked{stream: stream, turns: []utterance{user("describe", picture{media: "image/png", data: []byte(data)})}})
			require.GreaterOrEqual(t, w.Code, 400, name)
			require.Less(t, w.Code, 500, name)
		}
	})
}

func TestLimitsOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 7})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		got := g.do(t, h, asked{stream: stream, limit: 16, turns: []utterance{user("fill 100")}})
		require.Equal(t, g.finishes["length"], got.finish)
		require.Len(t, got.text, 64)
		require.True(t, strings.HasPrefix(got.text, "w1 w2 w3"))
		require.Equal(t, 16, got.out)

		got = g.do(t, h, asked{stream: stream, turns: []utterance{user("fill 100000")}})
		require.Equal(t, g.finishes["length"], got.finish)
		require.Equal(t, outputLimit, got.out)

		got = g.do(t, h, asked{stream: stream, limit: 16, turns: []utterance{user("think " + strings.Repeat("a", 100) + "\nsay b")}})
		require.Empty(t, got.text, "reasoning took it all")
		require.Equal(t, g.finishes["length"], got.finish)

		if g.noStop {
			return
		}
		got = g.do(t, h, asked{stream: stream, stop: []string{"never", "w3"}, turns: []utterance{user("fill 100")}})
		require.Equal(t, g.finishes["stop_sequence"], got.finish)
		want := "w1 w2 "
		if g.name == "tgi" {
			want += "w3" // TGI includes it in the text
		}
		require.Equal(t, want, got.text)
	})
}

func TestCacheOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 8})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if g.noCache {
			t.Skip("the wire counts no cache")
		}
		prompt := "cached 5 3\nsay " + strings.Repeat("x", 60)
		got := g.do(t, h, asked{stream: stream, turns: []utterance{user(prompt)}})
		require.Equal(t, 5, got.read)
		if g.noCacheWrite {
			require.Equal(t, model.Tokens(prompt)-5, got.in)
		} else {
			require.Equal(t, 3, got.write)
			require.Equal(t, model.Tokens(prompt)-8, got.in)
		}
		got = g.do(t, h, asked{stream: stream, turns: []utterance{user("cached 1000 200")}})
		require.Equal(t, 1000, got.read)
	})
}

func TestSystemAndSettingsOnEveryWire(t *testing.T) {
	h := Handler(Config{Seed: 9})
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if !g.noSystem {
			require.Equal(t, "Be brief.\nok", g.do(t, h, asked{stream: stream, system: "Be brief.", turns: []utterance{user("system\nsay ok")}}).text)
		}
		a := asked{stream: stream, limit: 99, turns: []utterance{user("settings")}}
		want := "max_tokens=99 temperature=unset seed=unset stop=unset choice=auto tools=0 format=text"
		if !g.noStop {
			a.stop = []string{"END"}
			want = strings.Replace(want, "stop=unset", `stop=["END"]`, 1)
		}
		if !g.noTools {
			a.tools = []string{"get"}
			want = strings.Replace(want, "tools=0", "tools=1", 1)
		}
		require.Equal(t, want, g.do(t, h, a).text)

		got := g.do(t, h, asked{stream: stream, schema: true, turns: []utterance{user("settings")}})
		require.Contains(t, got.text, "format=json_schema")
		got = g.do(t, h, asked{stream: stream, schema: true, turns: []utterance{user(`say {"a":"b"}`)}})
		require.Equal(t, `{"a":"b"}`, got.text)
	})
}

// TestContractModelsOnEveryWire checks that the models for the contract give the same
// reply with every API, complete or streamed.
func TestContractModelsOnEveryWire(t *testing.T) {
	h := counting(t, Config{Seed: 1})
	prompt := countPrompt(oneCount)
	each(t, func(t *testing.T, g wireClient, stream bool) {
		for _, model := range Models() {
			g.header = append(g.header, "X-Client-Request-Id", "same")
			want := saidIn(t, h, model, prompt, "", "same").text
			require.Contains(t, want, `"next_action"`)
			require.Equal(t, want, g.do(t, h, asked{model: model, stream: stream, turns: []utterance{user(prompt)}}).text)
			if g.noTools || g.noChoice {
				continue
			}
			forced := g.do(t, h, asked{model: model, stream: stream, tools: []string{"turn"}, choice: choiceNamed, turns: []utterance{user(prompt)}})
			require.JSONEq(t, saidIn(t, h, model, prompt, asForcedTool, "same").text, forced.calls[0].Args)
			offered := g.do(t, h, asked{model: model, stream: stream, tools: []string{"turn"}, turns: []utterance{user(prompt)}})
			require.Equal(t, want, offered.text, "they answer with text, even if tools are offered")
		}
	})
}
