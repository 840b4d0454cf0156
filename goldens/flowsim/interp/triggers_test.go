package interp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A trigger puts out what the real one would, and a payload of another form is null further
// on instead of an error.
func TestTriggers(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		berlin = time.FixedZone("Europe/Berlin", 3600)
	}
	for _, c := range []struct{ name, node, input, out, fails string }{
		{"form", `"type": "form"`, `{"name": "Ada"}`, `[{"formMode":"instanceAi","name":"Ada","submittedAt":"2026-03-02T10:00:00+01:00"}]`, ""},
		{"wrapped fields stay wrapped", `"type": "form"`, `{"formFields": {"name": "Ada"}}`, `[{"formFields":{"name":"Ada"},"formMode":"instanceAi","submittedAt":"2026-03-02T10:00:00+01:00"}]`, ""},
		{"form without fields", `"type": "form"`, `null`, `[{"formMode":"instanceAi","submittedAt":"2026-03-02T10:00:00+01:00"}]`, ""},
		{"form of a list", `"type": "form"`, `[1]`, ``, "trigger: the input of a trigger of type form must be an object"},
		{"webhook", `"type": "webhook"`, `{"event": "signup"}`, `[{"body":{"event":"signup"},"headers":{},"query":{}}]`, ""},
		{"webhook with a body in the body", `"type": "webhook"`, `{"body": {"event": "signup"}}`, `[{"body":{"body":{"event":"signup"}},"headers":{},"query":{}}]`, ""},
		{"webhook without a body", `"type": "webhook"`, `null`, `[{"body":{},"headers":{},"query":{}}]`, ""},
		{"chat", `"type": "chat"`, `{"chatInput": "hi", "x": 1}`, `[{"action":"sendMessage","chatInput":"hi","sessionId":"session_1"}]`, ""},
		{"chat of another form", `"type": "chat"`, `{"message": "hi"}`, `[{"action":"sendMessage","chatInput":null,"sessionId":"session_1"}]`, ""},
		{"chat of a text", `"type": "chat"`, `"hi"`, `[{"action":"sendMessage","chatInput":null,"sessionId":"session_1"}]`, ""},
		{"schedule", `"type": "schedule"`, `{"ignored": true}`, `[{"date":"2026-03-02","dayOfMonth":2,"dayOfWeek":"Monday","hour":10,"minute":0,"month":"March","second":0,"time":"10:00:00","timestamp":"2026-03-02T10:00:00+01:00","timezone":"Europe/Berlin","year":2026}]`, ""},
		{"manual", `"type": "manual"`, `{"a": 1}`, `[{"a":1}]`, ""},
		{"manual without input", `"type": "manual"`, `null`, `[{}]`, ""},
		{"manual with items", `"type": "manual"`, `[{"a": 1}, {"a": 2}]`, `[{"a":1},{"a":2}]`, ""},
		{"manual with anything", `"type": "manual"`, `[1]`, ``, "trigger: each item of the input must be an object"},
		{"manual with a text", `"type": "manual"`, `"x"`, ``, "trigger: the input of a trigger of type manual must be an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := workflow(t, `{"nodes": [{"name": "Go", `+c.node+`}]}`)
			env := environment(t)
			env.Start = monday.In(berlin)
			result := Run(g, Trigger{Input: value(t, c.input)}, env)
			if c.fails != "" {
				require.Equal(t, Errored, result.Status)
				require.Contains(t, result.Error.Error(), c.fails)
				return
			}
			require.Equal(t, Success, result.Status)
			require.Equal(t, c.out, text(t, result.Output))
		})
	}
	g := workflow(t, `{"nodes": [{"name": "Go", "type": "form"}]}`)
	result := Run(g, Trigger{Kind: "webhook"}, environment(t))
	require.EqualError(t, result.Error, `node "Go": trigger: the workflow starts with a trigger of type form, not webhook`)
	require.Equal(t, Success, Run(g, Trigger{Kind: "form"}, environment(t)).Status)
}
