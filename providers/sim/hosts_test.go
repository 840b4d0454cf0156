package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// hostRequest is the request of the samples.
const hostRequest = "How many angry messages did we get today?"

const hostBook = `playbook:
  T1:
    - {call: today_range, as: today}
    - call: get_counts
      args: {start_date: "{{today.start_date}}", end_date: "{{today.end_date}}", label: angry}
      as: n
    - answer: "We got {{n.value}} angry messages today, {{today.start_date}}."
  T2:
    - {ask: "Which label?", as: label}
    - call: get_counts
      args: {start_date: 2026-05-03, end_date: 2026-05-03, label: "{{label}}"}
      as: n
    - answer: "{{n.value}} {{label}} messages."
  T3: [{give_up: I cannot delete messages.}]
  T4:
    - each: days
      as: day
      do:
        - call: get_counts
          args: {start_date: "{{day}}", end_date: "{{day}}", label: angry}
          as: n
    - answer: "{{n[0].value}} and {{n[1].value}} messages."
  T5: [{ask: "Hello! What shall I count?"}, {give_up: I was told nothing.}]
  T6:
    - call: get_job_status
      args: {id: "7"}
      as: job
      until: job.status not in ['queued', 'running']
    - answer: "Job 7 is {{job.status}}."
  T7: [{answer: Seven., value: {n: 7}}]
`

// hosted returns a server whose models have a playbook of the hosts' requests.
func hosted(t testing.TB) http.Handler {
	t.Helper()
	set, err := tool.NewSet([]tool.Spec{
		{Name: "today_range", Schema: []byte(`{"type":"object","properties":{},"additionalProperties":false}`)},
		{Name: "get_counts", Schema: []byte(`{"type":"object","properties":{"start_date":{"type":"string"},"end_date":{"type":"string"},"label":{"type":"string"}},"required":["start_date","end_date","label"],"additionalProperties":false}`)},
		{Name: "get_job_status", Schema: []byte(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`)},
	})
	require.NoError(t, err)
	tasks := []playbook.Task{
		{ID: "T1", Request: hostRequest, Tools: set}, {ID: "T2", Request: "How many on 2026-05-03?", Tools: set}, {ID: "T3", Request: "Delete them all.", Tools: set},
		{ID: "T4", Request: "How many angry ones on the \"days\" given?", Tools: set, Inputs: []string{"days"}}, {ID: "T5", Request: "hi", Tools: set}, {ID: "T6", Request: "Wait for job 7.", Tools: set},
		{ID: "T7", Request: "Which number?", Tools: set, Schema: true},
	}
	book, err := playbook.Read(fstest.MapFS{playbook.File: {Data: []byte(hostBook)}}, "hosts", tasks)
	require.NoError(t, err)
	return Handler(Config{Books: []*playbook.Book{book}})
}

// hostForms are the forms that hosts give to the result of a tool.
var hostForms = map[string]func(string) string{
	"plain":       func(s string) string { return s },
	"string":      quoted,
	"part":        func(s string) string { return `{"type":"text","text":` + quoted(s) + `}` },
	"parts":       func(s string) string { return `[{"type":"text","text":` + quoted(s) + `,"annotations":{"a":1}}]` },
	"two strings": func(s string) string { return quoted(quoted(s)) },
	"response":    func(s string) string { return `[{"response":[{"type":"text","text":` + quoted(s) + `}]}]` },
	"content":     func(s string) string { return `{"content":[{"type":"text","text":` + quoted(s) + `}],"isError":false}` },
	"structured":  func(s string) string { return `{"content":[],"structuredContent":` + s + `}` },
	"both": func(s string) string {
		return `{"content":[{"type":"text","text":` + quoted(s) + `}],"structuredContent":{"result":1}}`
	},
	"nested": func(s string) string {
		return quoted(`[{"type":"text","text":` + quoted(`[{"type":"text","text":`+quoted(s)+`}]`) + `}]`)
	},
}

func quoted(s string) string { return string(encodeJSON(s)) }

// dialogue acts as a host: it makes a request, runs the tools that are called, and
// returns the answer.
func dialogue(t *testing.T, h http.Handler, g wireClient, a asked, run func(c invocation) string) heard {
	t.Helper()
	for range 8 {
		said := g.do(t, h, a)
		if len(said.calls) == 0 {
			return said
		}
		turn := utterance{}
		for i := range said.calls {
			c := &said.calls[i]
			require.Contains(t, a.tools, c.Name, "a call of a tool that was not offered")
			turn.results = append(turn.results, result{id: c.ID, name: c.Name, text: run(*c)})
		}
		a.turns = append(a.turns, utterance{own: true, text: said.text, calls: said.calls}, turn)
	}
	require.Fail(t, "no end")
	return heard{}
}

// TestHostsOnEveryWire checks that models call tools by the names that a host offers
// and read results in every form, with every API. The request has the host's words
// around it.
func TestHostsOnEveryWire(t *testing.T) {
	h := hosted(t)
	each(t, func(t *testing.T, g wireClient, stream bool) {
		if g.noTools {
			t.Skip("no tools")
		}
		prefixes := []string{"", "MCP_Client_", "mcp__world__", "world-"}
		for p, prefix := range prefixes {
			for f, form := range slices.Sorted(maps.Keys(hostForms)) {
				if f%len(prefixes) != p { // covers each prefix and each form, but not each pair
					continue
				}
				wrap := hostForms[form]
				tools := []string{"forget_counts", prefix + "get_counts", "web_search", prefix + "today_range", prefix + "ask_user", prefix + "cannot_proceed"}
				var called []string
				run := func(c invocation) string {
					called = append(called, c.Name)
					switch strings.TrimPrefix(c.Name, prefix) {
					case "today_range":
						return wrap(`{"end_date":"2026-05-13","start_date":"2026-05-13"}`)
					case "get_counts":
						return wrap(`{"value":449,"args":` + c.Args + `}`)
					}
					wrap := wrap
					if form == "structured" || form == "both" { // these forms need objects
						wrap = hostForms["parts"]
					}
					if strings.Contains(c.Args, "Which label?") {
						return wrap("praise")
					}
					return wrap(map[bool]string{true: "E_SILENT: the user does not answer", false: "noted; end here"}[strings.HasSuffix(c.Name, "ask_user")])
				}
				ask := func(text string) heard {
					called = nil
					return dialogue(t, h, g, asked{model: "sim-oracle", system: "You are a helpful assistant.", tools: tools, stream: stream, turns: []utterance{user(text)}}, run)
				}
				name := prefix + " " + form
				require.Equal(t, "We got 449 angry messages today, 2026-05-13.", ask("Context: the user is Ada.\n\nTask: "+hostRequest+"\nAnswer briefly.").text, name)
				require.Equal(t, []string{prefix + "today_range", prefix + "get_counts"}, called)
				require.Equal(t, "I cannot delete messages.", ask("Delete them all.").text)
				require.Equal(t, []string{prefix + "cannot_proceed"}, called, "it gives up once")
				require.Equal(t, "449 praise messages.", ask("How many on 2026-05-03? I am waiting.").text)
				require.Equal(t, []string{prefix + "ask_user", prefix + "get_counts"}, called)
				require.Equal(t, "I cannot answer: nobody answers what I ask.", ask("The user says: hi").text)
				require.Equal(t, []string{prefix + "ask_user"}, called, "it asks once")
			}
		}
	})
}

// TestHostsHistories has the changes that hosts make to earlier messages.
func TestHostsHistories(t *testing.T) {
	h := hosted(t)
	call := func(id, name, args string) invocation { return invocation{ID: id, Name: name, Args: args} }
	own := func(text string, calls ...invocation) utterance {
		return utterance{own: true, text: text, calls: calls}
	}
	came := func(id, name, text string) utterance {
		return utterance{results: []result{{id: id, name: name, text: text}}}
	}
	count := func(day string) string {
		return `{"start_date":"` + day + `","end_date":"` + day + `","label":"angry"}`
	}
	tools := []string{"MCP_get_counts", "MCP_today_range", "MCP_get_job_status"}
	for name, c := range map[string]struct {
		turns []utterance
		calls []string
		text  string
	}{
		"several turns of the user": {[]utterance{user("Delete them all."), own("I cannot."), user("OK. " + hostRequest)}, []string{"MCP_today_range {}"}, ""},
		"a question in words":       {[]utterance{user("Please: How many on 2026-05-03?")}, nil, "Which label?"},
		"and its answer":            {[]utterance{user("Please: How many on 2026-05-03?"), own("Which label?"), user("praise")}, []string{`MCP_get_counts {"end_date":"2026-05-03","label":"praise","start_date":"2026-05-03"}`}, ""},
		"a short request in a word": {[]utterance{user("Which is which?")}, nil, unknown},
		"a short request in words":  {[]utterance{user("The user says: hi")}, nil, "Hello! What shall I count?"},
		"a request in JSON": {[]utterance{user(`Do this: {"request": "How many angry ones on the \"days\" given?", "inputs": {"days": ["2026-05-01", "2026-05-02"]}}`)},
			[]string{"MCP_get_counts " + sortedCount("2026-05-01"), "MCP_get_counts " + sortedCount("2026-05-02")}, ""},
		"inputs in words": {[]utterance{user("How many angry ones on the \"days\" given?\n\ndays = [\"2026-05-01\"]")}, []string{"MCP_get_counts " + sortedCount("2026-05-01")}, ""},
		"a parallel turn in two": {[]utterance{
			user("Do: How many angry ones on the \"days\" given?\ndays: [\"2026-05-01\",\"2026-05-02\"]"),
			own("", call("a", "MCP_get_counts", count("2026-05-01"))), came("a", "MCP_get_counts", `[{"response":[{"type":"text","text":"{\"value\":1}"}]}]`),
			own("Calling.", call("b", "MCP_get_counts", count("2026-05-02"))), came("b", "MCP_get_counts", `{"value":2}`),
		}, nil, "1 and 2 messages."},
		"arguments with more": {[]utterance{
			user(hostRequest), own("", call("a", "MCP_today_range", `{"tool":"MCP_today_range","id":"a"}`)), came("a", "MCP_today_range", `{"start_date":"2026-05-13","end_date":"2026-05-13"}`),
			own("", call("b", "MCP_get_counts", `{"tool":"MCP_get_counts","id":"b",`+count("2026-05-13")[1:])), came("b", "MCP_get_counts", `{"value":7}`),
		}, nil, "We got 7 angry messages today, 2026-05-13."},
		"arguments written over": {[]utterance{
			user("Wait for job 7."), own("", call("a", "MCP_get_job_status", `{"id":"a"}`)), came("a", "MCP_get_job_status", `{"status":"queued"}`),
			own("", call("b", "MCP_get_job_status", `{"id":"b"}`)), came("b", "MCP_get_job_status", `{"status":"done"}`),
		}, nil, "Job 7 is done."},
		"an error in a host's words": {[]utterance{
			user(hostRequest), own("", call("a", "MCP_today_range", `{}`)), came("a", "MCP_today_range", `{"error":"[{\"type\":\"text\",\"text\":\"{\\\"error\\\":{\\\"code\\\":\\\"E_UPSTREAM\\\",\\\"message\\\":\\\"later\\\"}}\"}]","errorType":"NodeOperationError"}`),
		}, []string{"MCP_today_range {}"}, ""},
		"an answer as JSON":  {[]utterance{user("Which number? Answer only with JSON.")}, nil, `{"n":7}`},
		"an answer in words": {[]utterance{user("My question: Which number?")}, nil, "Seven."},
		"an error in a text": {[]utterance{user("Wait for job 7."), own("", call("a", "MCP_get_job_status", `{"id":"7"}`)), came("a", "MCP_get_job_status", "An error occurred while running the tool: E_UPSTREAM")},
			[]string{`MCP_get_job_status {"id":"7"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, g := range []wireClient{openAITongue, responsesTongue, anthropicTongue, cohereTongue} {
				said := g.do(t, h, asked{model: "sim-oracle", tools: tools, turns: c.turns})
				var calls []string
				for _, c := range said.calls {
					calls = append(calls, c.Name+" "+c.Args)
				}
				require.Equal(t, c.calls, calls, g.name)
				require.Equal(t, c.text, said.text, g.name)
			}
		})
	}
}

func sortedCount(day string) string {
	return `{"end_date":"` + day + `","label":"angry","start_date":"` + day + `"}`
}

// TestHostsSamples sends requests that hosts have sent: those in testdata, and those
// next to the repository.
func TestHostsSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/hosts/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	more, err := filepath.Glob("../../../shared/external/requests/*.json")
	require.NoError(t, err)
	if len(more) == 0 {
		t.Log("there is no ../shared/external/requests: only the samples of testdata are asked")
	}
	h := hosted(t)
	for _, file := range append(files, more...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var entries []struct{ Kind, Path, Body string }
			require.NoError(t, json.Unmarshal(text, &entries))
			asked := 0
			for i, e := range entries {
				if e.Kind == "model" {
					asked++
					t.Run(fmt.Sprint(i), func(t *testing.T) { checkSample(t, h, e.Path, e.Body) })
				}
			}
			require.Positive(t, asked)
		})
	}
}

var (
	sampleModel = regexp.MustCompile(`"model": ?"[^"]*"|models/[^:/]*:`)
	sampleTool  = regexp.MustCompile(`"name": ?"([^"]*?(get_counts|today_range))", ?"(?:description|parameters)"`)
	sampleValue = regexp.MustCompile(`"value\\*": ?([0-9]+)`)
	sampleToday = regexp.MustCompile(`"start_date\\*": ?\\*"(2026-05-13)`)
)

// checkSample checks the next step after a sample. If the request has the count, the
// answer states it. If it has only the day, the model calls the tool for the count of
// that day, and otherwise the tool for the day, by the names that the host offers. The
// text of the request decides what it has.
func checkSample(t *testing.T, h http.Handler, path, body string) {
	with := func(s string) string {
		return sampleModel.ReplaceAllStringFunc(s, func(m string) string {
			if strings.HasPrefix(m, "models/") {
				return "models/sim-oracle:"
			}
			return `"model":"sim-oracle"`
		})
	}
	w := post(t, h, with(path), with(body))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	clients := map[string]wireClient{"openai": openAITongue, "responses": responsesTongue, "anthropic": anthropicTongue, "gemini": geminiTongue}
	g := clients[wireOf(httptest.NewRequest(http.MethodPost, path, nil)).name]
	read := g.whole
	if strings.HasPrefix(w.Header().Get("Content-Type"), eventStream) {
		read = g.frames
	}
	said := read(t, w.Body.Bytes())
	offered := map[string]string{}
	for _, m := range sampleTool.FindAllStringSubmatch(body, -1) {
		offered[m[2]] = m[1]
	}
	require.Len(t, offered, 2, "the tools of the request")
	value, today := sampleValue.FindStringSubmatch(body), sampleToday.FindStringSubmatch(body)
	if value != nil {
		require.Empty(t, said.calls)
		require.Equal(t, "We got "+value[1]+" angry messages today, 2026-05-13.", said.text)
		return
	}
	require.Len(t, said.calls, 1, said.text)
	if today == nil {
		require.Equal(t, offered["today_range"], said.calls[0].Name)
		return
	}
	require.Equal(t, offered["get_counts"], said.calls[0].Name)
	require.JSONEq(t, sortedCount(today[1]), said.calls[0].Args)
}

// TestHostsTitles checks that a request for a title of the conversation gets one.
func TestHostsTitles(t *testing.T) {
	h := hosted(t)
	const asks = "Generate a concise, sentence-case title (3-7 words) for this session."
	a := asked{model: "sim-oracle", system: asks, turns: []utterance{user(hostRequest)}}
	for _, g := range []wireClient{openAITongue, responsesTongue, anthropicTongue, geminiTongue} {
		require.Equal(t, "How many angry messages did we", g.do(t, h, a).text, g.name)
	}
	a.schema = true
	require.JSONEq(t, `{"title":"How many angry messages did we"}`, anthropicTongue.do(t, h, a).text)
}

// TestHostsFields sends fields that hosts add and that a model does not read.
func TestHostsFields(t *testing.T) {
	h := hosted(t)
	chat := `"messages":[{"role":"user","content":"` + hostRequest + `"}]`
	function := `{"type":"function","function":{"name":"w_today_range","parameters":{"type":"object"}}}`
	claude := `{"name":"w_today_range","input_schema":{"type":"object"}}`
	for _, c := range []struct{ path, body string }{
		{chatPath, `{"model":"sim-oracle",` + chat + `,"tools":[` + function + `,{"type":"custom","custom":{"name":"patch"}}],"reasoning_effort":"low","store":false,"metadata":{},"x":1}`},
		{"/chat/completions", `{"model":"sim-oracle",` + chat + `,"tools":[` + function + `],"tool_choice":"required"}`},
		{responsesPath, `{"model":"sim-oracle","input":"` + hostRequest + `","tools":[{"type":"function","name":"w_today_range","parameters":{"type":"object"}},{"type":"web_search"},{"type":"mcp","server_label":"x"}],"include":["a"],"text":{"verbosity":"low"},"tool_choice":"auto"}`},
		{"/responses", `{"model":"sim-oracle","input":[{"role":"developer","content":"x"},{"role":"user","content":"` + hostRequest + `"}],"tools":[{"type":"function","name":"w_today_range","strict":false,"parameters":{"type":"object"}}]}`},
		{messagesPath + "?beta=true", `{"model":"sim-oracle","max_tokens":99,` + chat + `,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"tools":[` + claude + `,{"type":"web_search_20250305","name":"web_search"}],"output_config":{"effort":"high"},"thinking":{"type":"adaptive"},"context_management":{"edits":[]},"x":1}`},
		{"/messages", `{"model":"sim-oracle","max_tokens":99,"messages":[{"role":"user","content":"` + hostRequest + `"},{"role":"system","content":"# Environment"}],"tools":[` + claude + `],"tool_choice":{"type":"auto"}}`},
		{"/v1beta/models/sim-oracle:generateContent", `{"contents":[{"parts":[{"text":"Context."},{"text":"` + hostRequest + `"}],"role":"user"}],"tools":[{"functionDeclarations":[{"name":"w_today_range","parameters":{"type":"OBJECT","properties":{}}}]},{"googleSearch":{}}],"generationConfig":{}}`},
	} {
		w := post(t, h, c.path, c.body)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Contains(t, w.Body.String(), `"w_today_range"`, c.path)
	}
}

// TestHostsStart makes the requests that hosts send before any request to a model.
func TestHostsStart(t *testing.T) {
	h := hosted(t)
	for _, path := range []string{"/", "/v1", "/v1/messages", "/v1/models", "/v1/chat/completions"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, path, nil))
		require.Equal(t, http.StatusOK, w.Code, path)
	}
	status, list := get(t, h, "/models")
	require.Equal(t, http.StatusOK, status)
	require.NotEmpty(t, list["data"])

	contents := `"contents":[{"role":"user","parts":[{"text":"12345678"}]}]`
	for _, body := range []string{`{` + contents + `}`, `{"generateContentRequest":{"model":"models/sim-oracle",` + contents + `}}`} {
		w := post(t, h, "/v1beta/models/sim-oracle:countTokens", body)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Equal(t, 2, figure(parsed(t, w.Body.Bytes()), "totalTokens"))
	}
	w := post(t, h, "/messages/count_tokens", `{"model":"sim-oracle","messages":[{"role":"user","content":"12345678"}]}`)
	require.JSONEq(t, `{"input_tokens":2}`, w.Body.String())

	embed := func(body string) map[string]any {
		w := post(t, h, "/v1/embeddings", body)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		return parsed(t, w.Body.Bytes())
	}
	two := embed(`{"model":"text-embedding-3-small","input":["angry","calm"],"dimensions":8}`)
	require.Len(t, list2(two), 2)
	require.Len(t, at(two, "data", 0, "embedding"), 8)
	require.NotEqual(t, at(two, "data", 0, "embedding"), at(two, "data", 1, "embedding"))
	require.Equal(t, at(two, "data", 0, "embedding"), at(embed(`{"model":"m","input":"angry","dimensions":8}`), "data", 0, "embedding"))
	require.Len(t, list2(embed(`{"model":"m","input":[1,2,3]}`)), 1)
	require.Len(t, text(embed(`{"model":"m","input":"angry","encoding_format":"base64","dimensions":3}`), "data", 0, "embedding"), 16)
	for _, body := range []string{`{`, `{}`, `{"input":"a","dimensions":-1}`, `{"input":"a","dimensions":99999}`} {
		w := post(t, h, "/v1/embeddings", body)
		require.Equal(t, http.StatusBadRequest, w.Code)
		requireFault(t, w, "openai")
	}
}

func list2(v any) []any { return list(v, "data") }
