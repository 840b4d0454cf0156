package canonical

import (
	"net/url"
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
			got := URL(u)
			require.Equal(t, want, got)
			again, err := url.Parse(got)
			require.NoError(t, err)
			require.Equal(t, got, URL(again))
		})
	}
}

func TestDigest(t *testing.T) {
	digest := func(body string) string { return Digest("POST", "https://api.test/", body) }
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
	require.NotEqual(t, Digest("GET", "https://api.test/", ""), Digest("POST", "https://api.test/", ""))
	require.NotEqual(t, Digest("GET", "https://api.test/", ""), Digest("GET", "https://api.test/a", ""))
	// printf 'POST\nhttps://api.test/\njson\n{"a":2,"b":1}' | sha256sum: the digest is part of the file format.
	require.Equal(t, "00db384fef1dfd91c5f7f5a904db82ec050652a8c6063b5eeb02f74bb447f20f",
		Digest("POST", "https://api.test/", `{"b":1, "a":2}`))
}
