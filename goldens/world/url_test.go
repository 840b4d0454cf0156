package world

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestURLTemplateExpands(t *testing.T) {
	const counts = "https://api.example/counts?start={start}&end={end}&label={label}"
	tests := []struct{ name, template, args, want string }{
		{"no arguments", "https://api.example", `{}`, "https://api.example"},
		{"query", counts, `{"start":"2026-05-13","end":"2026-05-14","label":"angry"}`, "https://api.example/counts?start=2026-05-13&end=2026-05-14&label=angry"},
		{"what means something in a query", counts, `{"start":"a&b=c","end":"#?/+ ","label":"日本%41"}`, "https://api.example/counts?start=a%26b%3Dc&end=%23%3F%2F%2B%20&label=%E6%97%A5%E6%9C%AC%2541"},
		{"control characters", counts, `{"start":"\r\nX: y","end":"\u0000","label":"\u001b"}`, "https://api.example/counts?start=%0D%0AX%3A%20y&end=%00&label=%1B"},
		{"absent and null leave no parameter", counts, `{"end":null,"label":""}`, "https://api.example/counts?label="},
		{"none left", counts, `{}`, "https://api.example/counts"},
		{"path segment", "http://h:8080/jobs/{id}/status", `{"id":"a/b c?d#e"}`, "http://h:8080/jobs/a%2Fb%20c%3Fd%23e/status"},
		{"path and literal query", "http://h/{a}.json?v=1&q={b}", `{"a":"x","b":"y"}`, "http://h/x.json?v=1&q=y"},
		{"numbers by value", "http://h/{n}?m={m}", `{"n":1.0,"m":1e2}`, "http://h/1?m=100"},
		{"big integer keeps its digits", "http://h/{n}", `{"n":9007199254740993}`, "http://h/9007199254740993"},
		{"boolean and list", "http://h/?a={a}&b={b}", `{"a":true,"b":["x", 1]}`, "http://h/?a=true&b=%5B%22x%22%2C1%5D"},
		{"three dots are a name", "http://h/{a}", `{"a":"..."}`, "http://h/..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := parseURLTemplate(tt.template)
			require.NoError(t, err)
			got, err := u.expand(json.RawMessage(tt.args))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestURLTemplateRefusesArguments(t *testing.T) {
	const path = "http://h/files/{a}/meta"
	tests := []struct{ name, template, args, want string }{
		{"missing in the path", path, `{}`, "args.a: is missing or empty"},
		{"null in the path", path, `{"a":null}`, "args.a: is missing or empty"},
		{"empty in the path", path, `{"a":""}`, "args.a: is missing or empty"},
		{"climbs", path, `{"a":".."}`, "cannot be part of the address"},
		{"stays", path, `{"a":"."}`, "cannot be part of the address"},
		{"climbs encoded", path, `{"a":"x/../../admin"}`, "cannot be part of the address"},
		{"climbs with backslashes", path, `{"a":"x\\..\\y"}`, "cannot be part of the address"},
		{"climbs in two", "http://h/{a}{b}", `{"a":".","b":"."}`, "cannot be part of the address"},
		{"climbs with literal", "http://h/%2e{a}", `{"a":"."}`, "cannot be part of the address"},
		{"long", path, `{"a":"` + strings.Repeat("x", maxAddress) + `"}`, "longer than 8192 bytes"},
		{"duplicate", path, `{"a":1,"a":2}`, "duplicate_key"},
		{"no object", path, `[]`, "args_not_object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, err := parseURLTemplate(tt.template)
			require.NoError(t, err)
			_, err = u.expand(json.RawMessage(tt.args))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestURLTemplateProblems(t *testing.T) {
	for template, want := range map[string]string{
		"":                      "must begin with http",
		"ftp://h/":              "must begin with http",
		"{a}://h/":              "must begin with http",
		"https://{host}/x":      "must name its host",
		"https://h{x}.example/": "must name its host",
		"https:///x":            "no valid host",
		"https://h:port/":       "no valid host",
		"https://user:pw@h/":    "not contain a user name or password",
		"https://h/#top":        "no fragment",
		"https://h/?{a}=1":      "only after the =",
		"https://h/{a":          "is not an {argument}",
		"https://h/a}":          "percent-encoded",
		"https://h/{a/b}":       "is not an {argument}",
		"https://h/a b":         "percent-encoded",
		"https://h/?q=\"x\"":    "percent-encoded",
		"https://h/%zz":         "percent-encoded",
		"https://h/日":           "percent-encoded",
		"https://h/\n":          "percent-encoded",
		"https://h?x\r\n=1":     "percent-encoded",
		"https://h/" + strings.Repeat("x", maxTemplate): "at most 2048 bytes",
	} {
		_, err := parseURLTemplate(template)
		require.ErrorContains(t, err, want, template)
	}
}

// For any arguments that a model writes, the request goes to the same host and path
// depth, and the server reads back exactly the value.
func FuzzURLTemplate(f *testing.F) {
	for _, s := range []string{"angry", "..", "a/b", "a&b=c#d?e", "\r\nX: y", "日本", "%2e%2e", "", "\\..\\", "@evil.example/", "+ +"} {
		f.Add(s, s)
	}
	u, err := parseURLTemplate("https://api.example/v1/{a}/counts?x={b}&fixed=1&y={a}")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip("not UTF-8: JSON would change it")
		}
		args, err := json.Marshal(map[string]string{"a": a, "b": b})
		require.NoError(t, err)
		text, err := u.expand(args)
		if err != nil {
			return
		}
		got, err := url.ParseRequestURI(text)
		require.NoError(t, err)
		require.Equal(t, "https://api.example", got.Scheme+"://"+got.Host)
		require.Nil(t, got.User)
		require.Equal(t, 3, strings.Count(got.EscapedPath(), "/"))
		require.Equal(t, "/v1/"+a+"/counts", got.Path)
		query, err := url.ParseQuery(got.RawQuery)
		require.NoError(t, err)
		require.Equal(t, url.Values{"x": {b}, "fixed": {"1"}, "y": {a}}, query)
	})
}

// No text makes the template parser panic, and no accepted text lets an argument choose
// the host.
func FuzzParseURLTemplate(f *testing.F) {
	for _, s := range []string{"https://h/{a}?b={c}", "http://[::1]:80/x", "https://h?{", "http://h/%2e{a}", "http://{a}@h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := parseURLTemplate(text)
		if err != nil {
			return
		}
		values := map[string]string{}
		all, _ := u.arguments()
		for _, name := range all {
			values[name] = "@evil.example/../?&#"
		}
		args, err := json.Marshal(values)
		require.NoError(t, err)
		out, err := u.expand(args)
		if err != nil {
			return
		}
		got, err := url.Parse(out)
		require.NoError(t, err, out)
		require.Equal(t, u.origin, got.Scheme+"://"+got.Host)
	})
}
