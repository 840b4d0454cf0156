package recorder

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMissSaysWhatDiffers(t *testing.T) {
	const body = `{"max_tokens":400,"messages":[{"role":"system","content":"one\ntwo\nthree\nfour is here"},` +
		`{"role":"user","content":"How many angry messages came in this week, please?"}],"model":"m-1","seed":null,"stream":true,"odd name":1}`
	const at = "https://api.test/v1/chat?alt=sse"
	cases := []struct {
		name, method, url, old, new string
		want                        []string
	}{
		{"number", "", "", `"max_tokens":400`, `"max_tokens":800`, []string{"max_tokens: 400 → 800"}},
		{"line of a text", "", "", `four is here`, `five is here`, []string{`messages[0].content: line 4 changed ("four is here" → "five is here")`}},
		{"line added", "", "", `four is here`, `four is here\nfive`, []string{`messages[0].content: line 5 added ("five")`}},
		{"line removed", "", "", `one\n`, ``, []string{`messages[0].content: line 1 removed ("one")`}},
		{"one-line text", "", "", `this week`, `this year`, []string{`messages[1].content: "How many angry messages came in this week, please?" → "How many angry messages came in this year, please?"`}},
		{"member added", "", "", `"stream":true`, `"stream":true,"n":{"a":1}`, []string{`n: added {"a":1}`}},
		{"member removed", "", "", `"stream":true,`, ``, []string{"stream: removed; it was true"}},
		{"null", "", "", `"seed":null`, `"seed":7`, []string{"seed: null → 7"}},
		{"kind", "", "", `"seed":null`, `"seed":[1,2]`, []string{"seed: null → [1,2]"}},
		{"odd name", "", "", `"odd name":1`, `"odd name":2`, []string{`["odd name"]: 1 → 2`}},
		{"message added", "", "", `],"model"`, `,{"role":"user"}],"model"`, []string{`messages[2]: added {"role":"user"}`}},
		{"two fields", "", "", `"m-1","seed":null`, `"m-2","seed":1`, []string{`model: "m-1" → "m-2"`, "seed: null → 1"}},
		{"method", "PUT", "", "", "", []string{`method: "POST" → "PUT"`}},
		{"url", "", "https://api.test/v1/chat?alt=json&key=SECRETSECRET", "", "", []string{`url: "https://api.test/v1/chat?alt=sse" → "https://api.test/v1/chat?alt=json"`}},
		{"not JSON any more", "", "", `{"max_tokens"`, `"max_tokens"`, []string{"body: line"}},
		{"control characters", "", "", `this week`, `\u001b[31mthis week`, []string{`\x1b[31mthis`}},
	}
	r := newRecording(t, says("ok"))
	ask(t, r, post(t, "https://api.test/other", body))
	ask(t, r, post(t, at, body))
	ask(t, r, post(t, at, `{"max_tokens":400}`))
	back := saved(t, r)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(body, c.old, c.new, 1)
			target := at
			if c.url != "" {
				target = c.url
			}
			req := post(t, target, changed)
			if c.method != "" {
				req.Method = c.method
			}
			_, err := back.RoundTrip(req)
			var miss *MissError
			require.ErrorAs(t, err, &miss)
			require.Equal(t, 1, miss.Nearest)
			require.Equal(t, "t/1.yaml", miss.Path)
			if c.name == "not JSON any more" || c.name == "control characters" {
				require.Len(t, miss.Diff, 1)
				require.Contains(t, miss.Diff[0], strings.TrimPrefix(c.want[0], "body: line"))
				require.NotContains(t, miss.Diff[0], "\x1b")
				return
			}
			require.Equal(t, c.want, miss.Diff)
			require.ErrorContains(t, err, "cassette t/1.yaml has no recording of this request (nearest: interaction 1)\n  "+c.want[0])
			require.ErrorContains(t, err, "\nrecord it again with: cupel run --mode record")
			require.NotContains(t, err.Error(), "SECRET")
		})
	}
	require.Equal(t, 3, back.Leftover(), "a miss uses nothing up")
}

func TestConcurrentReplay(t *testing.T) {
	const workers, each = 64, 20
	r := newRecording(t, answer(func(req *http.Request) (*http.Response, error) { return says(req.URL.Path)(nil) }))
	for range each {
		for w := range workers {
			ask(t, r, post(t, fmt.Sprintf("https://api.test/%d", w%8), `{"a":1}`))
		}
	}
	back := saved(t, r)
	var wg sync.WaitGroup
	indexes := make(chan int, workers*each)
	for w := range workers {
		wg.Go(func() {
			for range each {
				req, seen := observed(post(t, fmt.Sprintf("https://api.test/%d", w%8), `{"a":1}`))
				resp, err := back.RoundTrip(req)
				if err != nil {
					t.Error(err)
					return
				}
				if got := readAll(t, resp.Body); strings.Join(got, "") != req.URL.Path {
					t.Errorf("%s answered %q", req.URL.Path, got)
				}
				resp.Header.Set("Content-Type", "mine")
				indexes <- (*seen)[0].Index
			}
		})
	}
	wg.Wait()
	close(indexes)
	used := map[int]bool{}
	for i := range indexes {
		require.False(t, used[i], "recording %d came twice", i)
		used[i] = true
	}
	require.Len(t, used, workers*each)
	require.Zero(t, back.Leftover())
}

func TestConcurrentRecording(t *testing.T) {
	r := newRecording(t, answer(func(req *http.Request) (*http.Response, error) { return says("a", req.URL.Path)(nil) }))
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() { ask(t, r, post(t, fmt.Sprintf("https://api.test/%d", w), "{}")) })
	}
	wg.Wait()
	back := saved(t, r)
	for w := range 64 {
		path := fmt.Sprintf("/%d", w)
		_, got := ask(t, back, post(t, "https://api.test"+path, "{}"))
		require.Equal(t, []string{"a", path}, got)
	}
}

// Equal requests of two roles are different ones: each gets the recording of its own role.
func TestRoles(t *testing.T) {
	n := 0
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { n++; return says(fmt.Sprint(n))(nil) }))
	in := func(role string) *http.Request {
		req := post(t, "https://api.test/", "{}")
		return req.WithContext(InRole(req.Context(), role))
	}
	ask(t, r, in(""))
	ask(t, r, in("judge"))
	ask(t, r, in("user"))
	back := saved(t, r)
	for role, want := range map[string]string{"user": "3", "judge": "2", "": "1"} {
		_, got := ask(t, back, in(role))
		require.Equal(t, []string{want}, got, role)
	}
	_, err := back.RoundTrip(in("critic"))
	require.ErrorContains(t, err, `role: "" → "critic"`)

	back = saved(t, r)
	require.Equal(t, 3, back.Leftover())
	back.Skip("other.test", "")
	require.Equal(t, 3, back.Leftover())
	back.Skip("other.test", "judge")
	require.Equal(t, 2, back.Leftover())
	_, err = back.RoundTrip(in("judge"))
	require.ErrorContains(t, err, "already used")
}
