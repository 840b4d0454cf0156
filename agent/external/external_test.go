package external

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// faultsOf are the faults of settings in YAML.
func faultsOf(t *testing.T, text string) (out []string) {
	t.Helper()
	var s Settings
	require.NoError(t, yaml.Unmarshal([]byte(text), &s))
	s.Faults(true, func(field, detail string) { out = append(out, field+": "+detail) })
	return out
}

func TestFaults(t *testing.T) {
	const known = "request, constraints, inputs, answer_schema, session_id, history, now, zone, base_url, openai_base_url, api_key, mcp_url, traceparent"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a command", "exec: {command: [python3, ./agent.py, '{{request}}'], env: [MY_MODEL=gpt, DATABASE_URL]}", nil},
		{"a service", "http: {url: 'https://host/run', headers: {Authorization: 'Bearer {{env.TOKEN}}', X-Key: '{{ api_key }}'}, body: {a: ['{{base_url}}', 1]}}", nil},
		{"a webhook", "n8n: {url: 'http://127.0.0.1:5678/webhook/x'}", nil},
		{"a service by traceparent", "http: {url: 'http://h/', body: {q: '{{request}}'}}\ncorrelate: traceparent\nproxy: {listen: '127.0.0.1:4100', token_env: T}", nil},
		{"nothing", "models: {a: {}}", []string{"exec: is missing; set one of exec, http and n8n"}},
		{"two ways", "exec: {command: [a]}\nn8n: {url: 'http://h'}", []string{"n8n: is set beside exec; an agent is reached by one of exec, http and n8n"}},
		{"everything wrong at once", "exec: {command: [' ', 'x{{request}}', '{{api_key}}', \"a\\0\"], env: [a b, OPENAI_API_KEY, MY_TOKEN=x, \"A=\\0\"]}\ncorrelate: key\nignore: [a]\nreplace: ['(', 'a*']\nmodels: {m: {max_output: -1}}\nproxy: {listen: ':1', token_env: 'a-b', advertise: x}", []string{
			"exec: command is missing; write a list of the program and its arguments, such as [python3, ./agent.py]",
			`exec: command[1]: {{request}} must be the whole argument, but is part of "x{{request}}"`,
			"exec: command[2]: only {{request}} may be an argument; {{api_key}} is in the environment or on standard input, because other users can read arguments",
			"exec: command[3] has a zero byte",
			`exec: env: "a b" is not the name of an environment variable, or NAME=value`,
			"exec: env: OPENAI_API_KEY is set by cupel itself",
			"exec: env: MY_TOKEN would contain a credential; write its name alone, and the value comes from cupel's environment",
			"exec: env: A has a zero byte",
			"proxy: advertise must be an http or https address without a user name",
			"proxy: token_env must be the name of an environment variable, never the token itself",
			`models: max_output of "m" must be from 1 to 1000000, but is -1`,
			`ignore: "a" is not a JSON pointer such as /metadata/session`,
			"replace: \"(\" is not a regular expression: error parsing regexp: missing closing ): `(`",
			`replace: "a*" matches the empty text`,
			"correlate: a command of exec gets its own URL; leave correlate out",
		}},
		{"a program that is a placeholder", "exec: {command: ['{{request}}']}", []string{"exec: command must begin with a program, not with a placeholder"}},
		{"a webhook that starts slowly", "n8n: {url: 'http://h/webhook/a', ready: {within: 5m}}", nil},
		{"listen", "exec: {command: [a]}\nproxy: {listen: '0.0.0.0:4100'}", []string{"proxy: listen binds every address of this machine; set advertise to the URL by which agents reach it"}},
		{"listen without a port", "exec: {command: [a]}\nproxy: {listen: localhost}", []string{`proxy: listen must be host:port such as 127.0.0.1:4100, but is "localhost"`}},
		{"a service with everything wrong", "http: {url: 'ftp://u:p@h/{{request}}', method: DELETE, headers: {a b: x, Cookie: c, X: '{{request}}', Y: \"a\\nb\"}, body: {a: 'x {{request}}', b: ['{{nothing}}']}, answer: out, stream: {delta: /d}, poll: {url: 'http://h/{{id}}', until: x, every: -1s}, ready: {method: PUT, status: 1, within: 25h}, conversation: mine}", []string{
			"http: url cannot have the placeholder {{request}}",
			"http: url must be an http or https address without a user name",
			`http: method must be one of GET, POST, PUT and PATCH, but is "DELETE"`,
			"http: headers: Cookie would contain a credential; write {{env.NAME}}, or {{api_key}} for the episode's own",
			"http: headers: X cannot have the placeholder {{request}}; it may have env.NAME, session_id, base_url, openai_base_url, api_key, mcp_url, traceparent",
			"http: headers: Y must be printable ASCII",
			`http: headers: "a b" is not a valid header name`,
			`http: body.a: {{request}} must be the whole value, but is part of "x {{request}}"`,
			"http: body.b[0]: unknown placeholder {{nothing}}; known: " + known,
			"http: answer must be a JSON pointer such as /output",
			"http: stream.delta is the answer; leave out answer and poll",
			"http: poll.url cannot have the placeholder {{id}}",
			"http: poll.until must be a JSON pointer, or one with a value, such as /status=completed",
			"http: poll.every must be at most 24h0m0s, but is -1s",
			"http: ready.url is missing",
			`http: ready.method must be one of GET, HEAD, OPTIONS and POST, but is "PUT"`,
			"http: ready.status must be from 100 to 599, but is 1",
			"http: ready.within must be at most 24h0m0s, but is 25h0m0s",
			`http: conversation must be history or own, but is "mine"`,
			"correlate: the service is not sent its base URL; send {{base_url}} in body or headers, or set correlate to key, traceparent or none",
		}},
		{"a GET with a body", "http: {url: 'http://h', method: GET, body: {a: '{{base_url}}'}}", []string{"http: body: a GET has none; use method POST"}},
		{"a service that never gets its key", "http: {url: 'http://h', body: {q: '{{request}}'}}\ncorrelate: key", []string{
			"correlate: the service is not sent its key; send {{api_key}} in body or headers",
			"proxy: is needed by correlate: key; set proxy: {listen: 127.0.0.1:PORT, token_env: NAME} for a stable URL",
		}},
		{"correlated by something else", "exec: {command: [a]}\ncorrelate: user", []string{`correlate: must be url, key, traceparent or none, but is "user"`}},
		{"many rules", "exec: {command: [a]}\nignore: [" + strings.Repeat("/a, ", 101) + "]", []string{"ignore: has 101 rules; 100 are allowed"}},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, faultsOf(t, test.text)) })
	}
}

func TestService(t *testing.T) {
	s := Settings{N8N: HTTP{URL: "http://h/webhook/x"}}
	h, n8n := s.Service()
	require.True(t, n8n)
	require.Equal(t, "/output", h.Answer)
	require.Equal(t, "http://h/webhook/x", h.Ready.URL)
	body := h.Body.(map[string]any)
	require.Equal(t, "{{request}}", body["chatInput"])
	require.Len(t, body, len(Placeholders)+2)

	s = Settings{HTTP: HTTP{URL: "http://h", Conversation: OwnState}}
	h, n8n = s.Service()
	require.False(t, n8n)
	require.Equal(t, "POST", h.Method)
	require.Equal(t, DefaultWithin, h.Ready.Within)
	require.NotContains(t, h.Body, "history", "the service keeps its own")
	h, _ = Settings{Exec: Exec{Command: []string{"a"}}}.Service()
	require.Zero(t, h)
}

// TestDigestible: what cannot change a result leaves digests alone.
func TestDigestible(t *testing.T) {
	require.Nil(t, Settings{}.Digestible())
	text := func(s Settings) string { return fmt.Sprintf("%v", s.Digestible()) }
	base := Settings{HTTP: HTTP{URL: "http://a:1/run?x=1", Ready: Ready{Status: 200}, Poll: Poll{URL: "http://a:1/p", Every: time.Second}}, Proxy: Proxy{Listen: "a:1"}, Ignore: []string{"/a"}, Dir: "x"}
	same := Settings{HTTP: HTTP{URL: "https://b/run?x=1", Poll: Poll{URL: "http://b/p"}}, Replace: []string{"b"}}
	require.Equal(t, text(base), text(same))
	same.HTTP.URL = "https://b/other"
	require.NotEqual(t, text(base), text(same))
	base.Models = map[string]Model{"a": {MaxOutput: 1}}
	same.HTTP.URL = base.HTTP.URL
	require.NotEqual(t, text(base), text(same))
	require.Equal(t, "http://a:1/run?x=1", base.HTTP.URL, "the settings stay as they are")
}

func TestVariables(t *testing.T) {
	s := Settings{Exec: Exec{Env: []string{"A=1", "B"}}, Proxy: Proxy{TokenEnv: "T"}, N8N: HTTP{URL: "http://h", Headers: map[string]string{"X": "{{env.C}} {{ env.B }}"}}}
	require.Equal(t, []string{"B", "C", "T"}, s.Variables())
	require.Empty(t, Settings{}.Variables())
}

func TestStable(t *testing.T) {
	require.Equal(t, "http://127.0.0.1:4100/s/a%2Fb", Proxy{Listen: "127.0.0.1:4100"}.Stable("a/b"))
	require.Equal(t, "http://host.docker.internal:4100/s/x", Proxy{Listen: "0.0.0.0:4100", Advertise: "http://host.docker.internal:4100/"}.Stable("x"))
	require.Empty(t, Proxy{}.Stable("x"))
}
