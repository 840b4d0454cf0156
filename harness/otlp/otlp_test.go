package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/cupel-eval/cupel/harness/imports"
)

// doc is OTLP JSON of some spans.
func doc(spans ...string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]}}]}`
}

// one is a span of trace 0…01 with ids of one digit, from second 1 to 2.
func one(id, parent int, name string, attrs ...string) string {
	return spanAt(id, parent, name, "1000000000", "2000000000", attrs...)
}

func spanAt(id, parent int, name, start, end string, attrs ...string) string {
	p := ""
	if parent > 0 {
		p = fmt.Sprintf(`"parentSpanId":"%016x",`, parent)
	}
	var list []string
	for i := 0; i < len(attrs); i += 2 {
		list = append(list, fmt.Sprintf(`{"key":%q,"value":%s}`, attrs[i], attrs[i+1]))
	}
	return fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x",%s"name":%q,"startTimeUnixNano":"%s","endTimeUnixNano":%s,"attributes":[%s]}`, 1, id, p, name, start, end, strings.Join(list, ","))
}

func str1(s string) string { return fmt.Sprintf(`{"stringValue":%q}`, s) }
func int1(n int) string    { return fmt.Sprintf(`{"intValue":"%d"}`, n) }
func chat(id, p int) string {
	return one(id, p, "chat m", attrOperation, str1(opChat), attrModel, str1("m"))
}

// read imports texts as files named f0, f1, ….
// content is what files contain.
type content struct {
	imports.Result
	Episodes []imports.Episode
}

func read(t testing.TB, keepGoing bool, texts ...string) (content, error) {
	t.Helper()
	dir := t.TempDir()
	var files []imports.File
	for i, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("f%d", i))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		f := imports.File{Path: path}
		f.Source.Name = filepath.Base(path)
		files = append(files, f)
	}
	return readFiles(files, imports.Options{KeepGoing: keepGoing})
}

func readFiles(files []imports.File, o imports.Options) (c content, err error) {
	c.Result, err = Format{}.Read(context.Background(), files, o, func(e *imports.Episode) error {
		c.Episodes = append(c.Episodes, *e)
		return nil
	})
	return c, err
}

// The vocabulary of the conventions, with old and new names, and the sums of an agent's span,
// which are not counted.
func TestConventions(t *testing.T) {
	messages := `[{"role":"user","parts":[{"type":"text","content":"How many?"}]}]`
	newNames := []string{
		attrOperation, str1(opChat), attrProvider, str1("openai"), attrModel, str1("m"), attrServed, str1("m-1"), attrIn, int1(100), attrOut, int1(20),
		attrCacheRead, int1(60), attrReasoning, int1(5), attrSystem, str1(`[{"type":"text","content":"Be brief."}]`), attrInput, str1(messages),
		attrOutput, str1(`[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"count","arguments":{"a":1}}],"finish_reason":"tool_call"}]`),
		attrFinish, `{"arrayValue":{"values":[{"stringValue":"tool_call"}]}}`, attrFirstChunk, `{"doubleValue":0.25}`,
	}
	text := doc(
		one(1, 0, "invoke_agent", attrOperation, str1(opInvokeAgent), attrAgentName, str1("Clerk"), attrIn, int1(999), attrOut, int1(999), attrOutput, str1(`[{"role":"assistant","parts":[{"type":"text","content":"Seven."}]}]`)),
		one(2, 1, "chat m", newNames...),
		one(3, 2, "execute_tool count", attrOperation, str1(opTool), attrToolName, str1("count"), attrToolID, str1("c1"), attrToolArgs, str1(`{"a":1}`), attrToolResult, str1("7")),
		one(4, 3, "tools/call", attrOperation, str1(opTool), attrToolName, str1("count")),
		spanAt(5, 1, "chat m", "3000000000", `"4000000000"`, attrOperation, str1(opChat), "gen_ai.system", str1("openai"), attrModel, str1("m"), "gen_ai.usage.prompt_tokens", int1(30), "gen_ai.usage.completion_tokens", int1(4), "gen_ai.completion", str1(`[{"role":"assistant","content":"Seven."}]`)),
		one(6, 5, "chat inner", attrOperation, str1(opChat), attrModel, str1("m"), attrIn, int1(30)),
	)
	r, err := read(t, false, text)
	require.NoError(t, err)
	require.Len(t, r.Episodes, 1)
	e := r.Episodes[0]
	require.Equal(t, []any{"Clerk", "m", "openai", "How many?", "Seven."}, []any{e.Candidate, e.Model, e.Provider, *e.Request, *e.Answer})
	require.Len(t, e.Turns, 2)
	first, last := e.Turns[0], e.Turns[1]
	require.Equal(t, []int64{40, 15, 60, 5, 250_000}, []int64{*first.In, *first.Out, *first.CacheRead, *first.Reasoning, *first.TTFTUs})
	require.Nil(t, first.CacheWrite, "what is not said is unknown")
	require.Equal(t, "Be brief.", first.Said.System)
	require.Equal(t, []imports.Proposal{{ID: "c1", Name: "count", Args: `{"a":1}`}}, first.Said.Calls)
	require.Nil(t, first.Said.Output)
	require.Equal(t, []int64{30, 4}, []int64{*last.In, *last.Out})
	require.Nil(t, last.CacheRead)
	require.Len(t, e.Calls, 1, "the call inside a call is the same")
	require.Equal(t, []any{1, "count", `{"a":1}`, "7"}, []any{e.Calls[0].Turn, e.Calls[0].Name, *e.Calls[0].Args, *e.Calls[0].Result})
	require.Equal(t, 2, r.LeftOut[leftInner])
}

// Messages may be in events of spans and in log records.
func TestEvents(t *testing.T) {
	span := strings.TrimSuffix(chat(2, 0), "}") + `,"events":[{"name":"gen_ai.user.message","timeUnixNano":"1","attributes":[{"key":"content","value":{"stringValue":"Hi"}}]},{"name":"mine"}]}`
	logs := `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000002","eventName":"gen_ai.choice","body":{"kvlistValue":{"values":[{"key":"message","value":{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"Hello"}}]}}}]}}}]}]}]}`
	r, err := read(t, false, doc(span)+"\n"+logs)
	require.NoError(t, err)
	require.Equal(t, "Hi", *r.Episodes[0].Request)
	require.Equal(t, "Hello", *r.Episodes[0].Answer)
	require.Equal(t, 1, r.LeftOut["event mine"])
}

// Bad input gets one message each, with file and place; with KeepGoing the rest is imported.
func TestBadInput(t *testing.T) {
	pb, err := proto.Marshal(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
		TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{2}, 8), Name: "chat", StartTimeUnixNano: 1, EndTimeUnixNano: 2,
		Attributes: []*common.KeyValue{{Key: attrOperation, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: opChat}}}},
	}}}}}}})
	require.NoError(t, err)
	r, err := read(t, false, string(pb))
	require.NoError(t, err)
	require.Len(t, r.Episodes, 1)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(pb)
	require.NoError(t, z.Close())
	r, err = read(t, false, zipped.String())
	require.NoError(t, err)
	require.Len(t, r.Episodes, 1)

	good := chat(9, 0)
	for name, c := range map[string]struct {
		text, want string
		kept       int // episodes with KeepGoing
	}{
		"empty":              {"", "f0: empty; export", 0},
		"not a trace":        {"\x00\x01\x02 text", "f0: byte 0: neither JSON nor the protobuf", 0},
		"other JSON":         {`{"a":1}`, "f0: value 1: neither OTLP", 0},
		"cut JSON":           {doc(good)[:150], "the JSON ends early", 0},
		"cut protobuf":       {string(pb[:len(pb)-5]), "the protobuf is cut", 0},
		"wrong type":         {doc(`{"traceId":7}`, good), "f0: value 1, resourceSpans[0], spans[0]: ", 1},
		"spans no list":      {`{"resourceSpans":{"a":1}}`, "an object in place of a list", 0},
		"negative time":      {doc(spanAt(2, 0, "chat", "-5", "7"), good), "invalid value for fixed64", 1},
		"ends first":         {doc(spanAt(2, 0, "chat", "9000000000", "7000000000"), good), `span "0000000000000002" ends 2000000000 ns before it starts`, 1},
		"beyond time":        {doc(spanAt(2, 0, "chat", "18446744073709551615", `"18446744073709551615"`), good), "is not a time since 1970", 1},
		"no end":             {doc(spanAt(2, 0, "chat", "9000000000", "0"), good), "has no end", 1},
		"no trace id":        {doc(`{"spanId":"0000000000000002","startTimeUnixNano":1,"endTimeUnixNano":2}`, good), `trace id "" is not 32 hex digits`, 1},
		"own parent":         {doc(chat(2, 2), good), "is its own ancestor", 1},
		"cycle":              {doc(chat(2, 3), chat(3, 2), chat(4, 2), good), "is its own ancestor", 1},
		"one id, two spans":  {doc(chat(2, 0), one(2, 0, "other"), good), "is also at f0: value 1", 1},
		"agents: no times":   {`{"object":"trace.span","id":"a","trace_id":"t"}`, "must be RFC 3339 times", 0},
		"agents: other kind": {`{"object":"list"}`, `object "list" is neither`, 0},
		"agents: ends first": {`{"object":"trace.span","id":"a","trace_id":"t","started_at":"2026-01-01T00:00:01Z","ended_at":"2026-01-01T00:00:00Z"}`, "before it starts", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, false, c.text)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, 1, strings.Count(err.Error(), "\n"), "one line and the hint:\n%s", err)
			r, err := read(t, true, c.text)
			require.NoError(t, err)
			require.Len(t, r.Episodes, c.kept)
			require.Len(t, r.Problems, 1)
			require.Equal(t, 1, r.LeftOut["problems"])
		})
	}
}

// Missing parents are usual, because a trace may begin elsewhere; spans may come twice.
func TestMissingAndRepeated(t *testing.T) {
	r, err := read(t, false, doc(chat(2, 7), chat(2, 7)), doc(chat(2, 7), chat(3, 2)))
	require.NoError(t, err)
	require.Len(t, r.Episodes[0].Turns, 1)
	require.Equal(t, map[string]int{leftParents: 1, leftRepeated: 2, leftInner: 1}, r.LeftOut)
	require.Nil(t, r.Episodes[0].Request)
	require.Nil(t, r.Episodes[0].Answer)
	require.Nil(t, r.Episodes[0].Turns[0].In)
	require.Equal(t, "shop", r.Episodes[0].Candidate)
}

// Problems are bounded, and so are the ids that they quote.
func TestProblemsAreBounded(t *testing.T) {
	var spans []string
	for range 500 {
		spans = append(spans, `{"traceId":"`+strings.Repeat("zz", 5000)+`"}`)
	}
	_, err := read(t, false, doc(spans...))
	require.Less(t, len(err.Error()), 8000)
	require.ErrorContains(t, err, "more problems are not listed")
}

// Large input is refused with the figure: a span, and what all files have, also compressed.
func TestLargeInput(t *testing.T) {
	span := strings.Replace(doc(one(2, 0, "long")), "long", strings.Repeat("x", maxSpan), 1)
	require.ErrorContains(t, decoder{newCollector(false)}.stream(strings.NewReader(span)), "value 1, resourceSpans[0], spans[0] has 33554")
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(bytes.Repeat([]byte("\n"), 8<<20))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	c := newCollector(false)
	c.maxBytes = 4 << 20
	require.ErrorContains(t, decoder{c}.stream(&bomb), "more than 4194304 bytes in all; import them in parts")
}

// What real agents emit: the figures are those of the requests that a recording proxy saw.
func TestRealFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "external", "otlp")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no files of real agents here")
	}
	const question = "How many angry messages did we get today?"
	for _, c := range []struct {
		files     string
		turns     int
		in, out   int64 // -1: unknown
		calls     string
		answer    bool
		candidate string
	}{
		{"ai-sdk-generateText.json", 3, 117, 27, "today_range get_counts", true, "foreign"},
		{"ai-sdk-streamText.json", 3, 117, 27, "today_range get_counts", true, "foreign"},
		{"claude-agent-sdk-traces.json", 4, 1082, 44, "today_range get_counts", false, "claude-code"},
		{"claude-agent-sdk-logs.json", 4, 1082, 44, "today_range get_counts", true, "claude-code"},
		{"claude-agent-sdk-traces.json claude-agent-sdk-logs.json", 4, 1082, 44, "today_range get_counts", true, "claude-code"},
		{"n8n-execution.pb", 4, -1, -1, "", false, "cupelUrl31"},
		{"openai-agents-trace.jsonl", 3, 100, 27, "today_range get_counts", false, "Dashboard"},
	} {
		t.Run(c.files, func(t *testing.T) {
			var paths []string
			for _, f := range strings.Fields(c.files) {
				paths = append(paths, filepath.Join(dir, f))
			}
			files, err := imports.Files(paths, nil)
			require.NoError(t, err)
			r, err := readFiles(files, imports.Options{})
			require.NoError(t, err)
			require.Len(t, r.Episodes, 1)
			e := r.Episodes[0]
			require.Len(t, e.Turns, c.turns)
			var in, out int64
			for _, turn := range e.Turns {
				if turn.In == nil {
					in, out = -1, -1
					break
				}
				in, out = in+*turn.In, out+*turn.Out
			}
			require.Equal(t, []int64{c.in, c.out}, []int64{in, out})
			if c.answer {
				require.Equal(t, "angry messages on 2026-05-13: 449.", *e.Answer)
			} else {
				require.Nil(t, e.Answer)
			}
			if c.calls != "" {
				var names []string
				for i, call := range e.Calls {
					names = append(names, call.Name)
					require.Equal(t, i+1+c.turns-3, call.Turn)
					if !strings.HasPrefix(c.files, "claude-agent-sdk-traces.json") || strings.Contains(c.files, "logs") {
						require.NotNil(t, call.Args)
					} else {
						require.Nil(t, call.Args)
					}
				}
				require.Equal(t, c.calls, strings.Join(names, " "))
			}
			if strings.HasPrefix(c.files, "ai-sdk") || strings.Contains(c.files, "traces.json") {
				require.Equal(t, question, *e.Request)
			}
			require.Equal(t, c.candidate, e.Candidate)
		})
	}
}

// A document of 100 MB is read in memory that its spans take.
func BenchmarkRead(b *testing.B) {
	var spans []string
	for i := range 1000 {
		spans = append(spans, chat(i+2, 0))
	}
	text := doc(spans...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c := newCollector(false)
		require.NoError(b, decoder{c}.stream(strings.NewReader(text)))
		require.Len(b, c.spans, 1000)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(doc(one(1, 0, "invoke_agent", attrOperation, str1(opInvokeAgent)), chat(2, 1), chat(3, 3))))
	f.Add([]byte("\n\x10\n\x00\x12\x0c\x12\n\n\x08abcdefgh"))
	f.Add([]byte(`{"object":"trace.span","id":"a","trace_id":"t","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:00Z","span_data":{"type":"generation","input":[{"role":"user","content":[{"type":"text","text":"x"}]}],"usage":{"input_tokens":-4}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newCollector(true)
		if err := (decoder{c}).stream(bytes.NewReader(data)); err != nil {
			c.problem("", err)
		}
		require.LessOrEqual(t, len(c.problems), maxProblems)
		for _, e := range c.episodes(false) {
			require.LessOrEqual(t, e.Start, e.End)
			for _, turn := range e.Turns {
				require.LessOrEqual(t, turn.Start, turn.End)
				for _, n := range []*int64{turn.In, turn.Out, turn.CacheRead, turn.CacheWrite, turn.Reasoning, turn.TTFTUs} {
					if n != nil {
						require.GreaterOrEqual(t, *n, int64(0))
					}
				}
			}
		}
	})
}
