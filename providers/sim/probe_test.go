package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// obeyed returns the probe's reply to messages.
func obeyed(q modelRequest) completion {
	c := completion{in: 10}
	q.settle()
	q.runScript(&c)
	return c
}

func TestDirectives(t *testing.T) {
	for _, c := range []struct {
		name, said, want string
	}{
		{"nothing", "", ""},
		{"texts are joined", "say a\nsay b", "ab"},
		{"a JSON text", `say "a\n\"b\""`, "a\n\"b\""},
		{"quotes that are no JSON text", `say "a" b`, `"a" b`},
		{"empty text", "say", ""},
		{"lines of their own", "say a\nfill 2\nfill 1\nsay b", "a\nw1 w2\nw1\nb"},
		{"space around", "  say a  \r\n\r\n", "a"},
		{"unknown", "hello there\nsay a", "?hello there\na"},
		{"unknown number", "fill x\nfill -1\ncached 1\ncached a b", "?fill x\n?fill -1\n?cached 1\n?cached a b"},
		{"no tool", "call f {}", "no tool f"},
		{"no images, no results", "describe\nresults", ""},
		{"no system prompt", "system", ""},
		{"only the first part", "say a\nthen\nsay b\nthen\nsay c", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, obeyed(modelRequest{messages: []utterance{user(c.said)}}).text)
		})
	}
}

func TestStages(t *testing.T) {
	q := modelRequest{messages: []utterance{user("say old"), {own: true, text: "old"}, user("say 0\nthen\nsay 1\nthen\nsay 2")}}
	for stage := range 4 {
		want := ""
		if stage < 3 {
			want = fmt.Sprint(stage)
		}
		require.Equal(t, want, obeyed(q).text)
		q.messages = append(q.messages, utterance{own: true, text: "x"})
	}
	require.Empty(t, obeyed(modelRequest{messages: []utterance{{own: true, text: "say a"}}}).text, "the user said nothing")
}

func TestResultsAreOfTheStageBefore(t *testing.T) {
	q := modelRequest{tools: []string{"f"}, messages: []utterance{
		user("call f\nthen\nresults\ncall f\nthen\nresults"),
		{own: true, calls: []invocation{{ID: "1", Name: "f", Args: "{}"}}}, {results: []result{{id: "1", text: "one"}}},
	}}
	require.Equal(t, "f -> one", obeyed(q).text)
	q.messages = append(q.messages, utterance{own: true, calls: []invocation{{ID: "2", Name: "f", Args: "{}"}}}, utterance{results: []result{{id: "2", text: "two", failed: true}}})
	require.Equal(t, "f failed: two", obeyed(q).text)
	q.messages = append(q.messages, utterance{own: true, calls: []invocation{{ID: "3", Name: "f", Args: "{}"}}}, utterance{text: "results", results: []result{{id: "3", text: "three"}}})
	require.Equal(t, "f -> three", obeyed(q).text, "results together with a new message")
}

func TestPictureOfAResult(t *testing.T) {
	p := picture{media: "image/png", data: []byte("x"), width: 1, height: 2}
	q := modelRequest{messages: []utterance{
		user("then\ndescribe"), {own: true, calls: []invocation{{ID: "1", Name: "f", Args: "{}"}}}, {results: []result{{id: "1", images: []picture{p}}}},
	}}
	require.Equal(t, "image 1: image/png 1x2, 1 bytes", obeyed(q).text)
}

func TestCachedTokensFitThePrompt(t *testing.T) {
	for said, want := range map[string][3]int{"cached 4 3": {10, 4, 3}, "cached 40 3": {43, 40, 3}, "cached 0 0": {10, 0, 0}, "cached -1 0": {10, 0, 0}} {
		c := obeyed(modelRequest{messages: []utterance{user(said)}})
		require.Equal(t, want, [3]int{c.in, c.read, c.write}, said)
		require.GreaterOrEqual(t, c.fresh(), 0)
	}
}

func TestSettingsInOneLine(t *testing.T) {
	temperature, seed := 0.5, int64(-7)
	q := modelRequest{
		messages: []utterance{user("settings")}, tools: []string{"f", "g"}, choice: choiceNone, maxTokens: 5,
		temperature: &temperature, seed: &seed, stop: []string{"a", "\n"}, format: formatObject,
	}
	require.Equal(t, `max_tokens=5 temperature=0.5 seed=-7 stop=["a" "\n"] choice=none tools=2 format=json_object`, obeyed(q).text)
}

func TestForcedToolTakesTheAnswer(t *testing.T) {
	forced := func(said string) completion {
		return obeyed(modelRequest{messages: []utterance{user(said)}, tools: []string{"f", "g"}, choice: choiceNamed, tool: "f"})
	}
	require.Equal(t, []invocation{{Name: "f", Args: `{"a":1}`}}, forced(`say {"a":1}`).calls)
	require.Equal(t, []invocation{{Name: "f", Args: "{}"}}, forced("say b\ncall f").calls)
	require.Equal(t, "b", forced("say b\ncall f").text)
	require.Empty(t, forced("refuse no").calls)
}

// TestBound checks that nothing after the limit is sent.
func TestBound(t *testing.T) {
	made := func(limit int, stop ...string) completion {
		c := completion{reasoning: strings.Repeat("r", 8), text: strings.Repeat("t", 8), calls: []invocation{{Name: "a", Args: "{1234567}"}, {Name: "b", Args: "{}"}}}
		c.bound(limit, stop)
		return c
	}
	for limit, want := range map[int][4]int{100: {8, 8, 2, 4}, 2: {8, 0, 0, 0}, 3: {8, 4, 0, 1}, 4: {8, 8, 0, 2}, 5: {8, 8, 1, 3}} {
		c := made(limit)
		if limit == 100 {
			require.Equal(t, 2+3+1, c.out)
			require.False(t, c.cut)
			continue
		}
		require.True(t, c.cut, limit)
		require.Len(t, c.reasoning, want[0], limit)
		require.Len(t, c.text, want[1], limit)
		require.Len(t, c.calls, want[2], limit)
		require.Equal(t, want[3], c.out, limit)
		require.LessOrEqual(t, c.made(), limit)
	}
	c := made(100, "tt")
	require.Equal(t, "tt", c.stopped)
	require.False(t, c.cut)
	require.Empty(t, c.text)
	require.Empty(t, c.calls)
	require.Len(t, c.reasoning, 8, "reasoning is not looked at")
}

func TestMatchCalls(t *testing.T) {
	calls := []invocation{{ID: "1", Name: "f", Args: ""}, {ID: "2", Name: "g", Args: ""}}
	own := utterance{at: 3, own: true, calls: calls}
	require.Nil(t, matchCalls([]utterance{own, {results: []result{{id: "2"}, {id: "1"}}}}))
	require.Nil(t, matchCalls([]utterance{own, {results: []result{{id: "2"}}}, {results: []result{{id: "1"}}}, {own: true}}))
	require.Equal(t, &mismatch{at: 3, ids: []string{"1"}}, matchCalls([]utterance{own, {results: []result{{id: "2"}}}}))
	require.Equal(t, &mismatch{at: 3, ids: []string{"1", "2"}}, matchCalls([]utterance{own, {text: "hi"}}))
	require.Equal(t, &mismatch{orphan: true, ids: []string{"9"}}, matchCalls([]utterance{own, {results: []result{{id: "9"}}}}))
	named := []utterance{own, {results: []result{{name: "g"}, {name: "f"}}}}
	require.Nil(t, matchCalls(named))
	require.Equal(t, "2", named[1].results[0].id)
}
