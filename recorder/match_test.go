package recorder

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonicalURL(t *testing.T) {
	cases := map[string]string{
		"HTTPS://API.Test/V1":                   "https://api.test/V1",
		"https://api.test":                      "https://api.test/",
		"https://api.test/?b=2&a=1&b=1":         "https://api.test/?a=1&b=2&b=1",
		"https://u:p@api.test/a%2Fb#frag":       "https://api.test/a%2Fb",
		"https://api.test/?key=K&x=1":           "https://api.test/?x=1",
		"https://api.test/?API_key=K":           "https://api.test/",
		"https://api.test/?api-key=K&apikey=K":  "https://api.test/",
		"https://api.test/?access%5Ftoken=K":    "https://api.test/",
		"https://api.test/?X-Amz-Signature=K&y": "https://api.test/?y",
		"https://api.test/?keyword=cat&&":       "https://api.test/?keyword=cat",
		"https://api.test/?%zz=1&a=%zz":         "https://api.test/?%zz=1&a=%zz",
		"http://127.0.0.1:8080/a?alt=sse":       "http://127.0.0.1:8080/a?alt=sse",
	}
	for in, want := range cases {
		t.Run(in, func(t *testing.T) {
			u, err := url.Parse(in)
			require.NoError(t, err)
			got := canonicalURL(u)
			require.Equal(t, want, got)
			again, err := url.Parse(got)
			require.NoError(t, err)
			require.Equal(t, got, canonicalURL(again))
		})
	}
}

func TestWhatCountsInARequest(t *testing.T) {
	digest := func(body string) string { return requestDigest("POST", "https://api.test/", body) }
	cases := []struct {
		name, a, b string
		same       bool
	}{
		{"key order", `{"a":1,"b":[{"c":2,"d":3}]}`, `{"b":[{"d":3,"c":2}],"a":1}`, true},
		{"white space", `{"a":[1,2]}`, " {\n\t\"a\" : [ 1 , 2 ] }\r\n", true},
		{"escapes", `{"a":"\u0041\/é"}`, `{"a":"A/\u00e9"}`, true},
		{"array order", `[1,2]`, `[2,1]`, false},
		{"big integers", `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"notation", `{"a":1.0}`, `{"a":1}`, false},
		{"exponents", `{"a":1e400}`, `{"a":1e401}`, false},
		{"zero's sign", `{"a":-0}`, `{"a":0}`, false},
		{"text case", `{"a":"x"}`, `{"a":"X"}`, false},
		{"number or text", `{"a":1}`, `{"a":"1"}`, false},
		{"null or absent", `{"a":null}`, `{}`, false},
		{"duplicate names are bytes", `{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{"not JSON is bytes", `a=1&b=2`, `b=2&a=1`, false},
		{"broken JSON is bytes", `{"a":1`, `{ "a":1`, false},
		{"JSON or raw", `1`, `1 x`, false},
		{"nothing", ``, `{}`, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, digest(c.a), digest(c.a))
			require.Equal(t, c.same, digest(c.a) == digest(c.b))
		})
	}
	require.NotEqual(t, requestDigest("GET", "https://api.test/", ""), requestDigest("POST", "https://api.test/", ""))
	require.NotEqual(t, requestDigest("GET", "https://api.test/", ""), requestDigest("GET", "https://api.test/a", ""))
	// printf 'POST\nhttps://api.test/\njson\n{"a":2,"b":1}' | sha256sum: the digest is part of the file format.
	require.Equal(t, "00db384fef1dfd91c5f7f5a904db82ec050652a8c6063b5eeb02f74bb447f20f",
		requestDigest("POST", "https://api.test/", `{"b":1, "a":2}`))
}

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

func TestAMissIsBoundedAndKeepsSecrets(t *testing.T) {
	var old, now strings.Builder
	for i := range 100 {
		fmt.Fprintf(&old, `"f%03d":"%s",`, i, strings.Repeat("é", 1000))
		fmt.Fprintf(&now, `"f%03d":"%s",`, i, strings.Repeat("é", 500)+"x"+strings.Repeat("é", 500))
	}
	lines := diffRequests(rawRequest{"POST", "u", "{" + old.String() + `"z":1}`}, rawRequest{"POST", "u", "{" + now.String() + `"z":1}`})
	require.Len(t, lines, maxDiffLines+1)
	require.Equal(t, "… and 88 more", lines[maxDiffLines])
	for _, l := range lines {
		require.Less(t, len(l), 400)
		require.NotContains(t, l, `\x`, "no rune is cut")
	}

	const canary = "sk-proj-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6Vc"
	for _, pair := range [][2]string{
		{`{"a":"x"}`, `{"a":"` + canary + `"}`}, {`{}`, `{"a":"` + canary + `"}`}, {`{"a":"` + canary + `"}`, `{}`},
		{`{"a":1}`, `{"a":"` + canary + `"}`}, {`x`, "line\n" + canary}, {`{"a":"l\nm"}`, `{"a":"l\n` + canary + `"}`},
	} {
		for _, l := range diffRequests(rawRequest{"POST", "u", pair[0]}, rawRequest{"POST", "u", pair[1]}) {
			require.Contains(t, l, "withheld")
			require.NotContains(t, l, canary[8:16])
		}
	}
}

func TestADigestChangeIsNeverSilent(t *testing.T) {
	lines := diffRequests(rawRequest{"POST", "u", `{"a":1,"a":2}`}, rawRequest{"POST", "u", `{"a":2}`})
	require.Equal(t, []string{`body: "{\"a\":1,\"a\":2}" → "{\"a\":2}"`}, lines)
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
