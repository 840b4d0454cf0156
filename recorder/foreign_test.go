package recorder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goVCRVersion1 is laid out as go-vcr v2 writes it, goVCRVersion2 as v3 and v4 do.
const goVCRVersion1 = `---
version: 1
interactions:
- request:
    body: '{"a": 1}'
    form: {}
    headers:
      Authorization:
      - Bearer abc
      Content-Type:
      - application/json
    url: https://API.test/v1?key=abc&b=2&a=1
    method: POST
  response:
    body: |
      hello
    headers:
      Content-Type:
      - text/plain
      Set-Cookie:
      - a=b
    status: 200 OK
    code: 200
    duration: 12.3456789ms
`

const goVCRVersion2 = `---
version: 2
interactions:
- id: 0
  request:
    proto: HTTP/1.1
    proto_major: 1
    proto_minor: 1
    content_length: 8
    transfer_encoding: []
    trailer: {}
    host: api.test
    remote_addr: ""
    request_uri: ""
    body: '{"a": 1}'
    form: {}
    headers:
      content-type:
      - application/json
    url: https://api.test/v1?a=1&b=2
    method: POST
  response:
    proto: HTTP/2.0
    proto_major: 2
    proto_minor: 0
    transfer_encoding: []
    trailer: {}
    content_length: -1
    uncompressed: true
    body: |
      hello
    headers:
      Content-Type:
      - text/plain
    status: 200 OK
    code: 200
    duration: 12.3456789ms
`

func TestBothFormatsOfGoVCRAreRead(t *testing.T) {
	for name, data := range map[string]string{"version 1": goVCRVersion1, "version 2": goVCRVersion2} {
		t.Run(name, func(t *testing.T) {
			_, err := opened([]byte(data), Options{})
			requireCorrupt(t, err, "unsealed")
			require.ErrorContains(t, err, "not sealed")

			r, err := opened([]byte(data), Options{AllowUnsealed: true})
			require.NoError(t, err)
			require.Zero(t, r.Header())
			requirePlaysHello(t, r)

			own, err := Seal(Options{Path: "a/b.yaml", Header: Header{Task: "x"}}, []byte(data))
			require.NoError(t, err)
			require.NotContains(t, string(own), "abc", "credentials and cookies stay behind")
			require.NotContains(t, string(own), "a=b")
			r, err = opened(own, Options{})
			require.NoError(t, err)
			require.Equal(t, Header{Task: "x"}, r.Header())
			requirePlaysHello(t, r)
		})
	}
}

func requirePlaysHello(t *testing.T, r *Recorder) {
	t.Helper()
	req, seen := observed(post(t, "https://api.test/v1?b=2&a=1&key=another", `{ "a":1 }`))
	resp, got := ask(t, r, req)
	require.Equal(t, []string{"hello\n"}, got)
	require.Equal(t, "text/plain", resp.Header.Get("Content-Type"))
	require.Len(t, *seen, 1)
	require.Equal(t, 12345*time.Microsecond, (*seen)[0].FirstByte)
	require.Equal(t, 12345*time.Microsecond, (*seen)[0].Duration)
	require.Zero(t, r.Leftover())
}

func TestSealTakesAnEditedCassette(t *testing.T) {
	edited := strings.Replace(string(encode(sample())), `"content":"hi"`, `"content":"ho"`, 1)
	edited = strings.Replace(edited, `{"choices":[]}`, `{"choices":[1]}`, 1)
	_, err := opened([]byte(edited), Options{})
	requireCorrupt(t, err, "edited")

	data, err := Seal(Options{Path: "a/b.yaml", Header: Header{Task: "ignored"}}, []byte(edited))
	require.NoError(t, err)
	r, err := opened(data, Options{})
	require.NoError(t, err)
	require.Equal(t, sample().header, r.Header())
	its := r.deck.tape.interactions
	require.Equal(t, requestDigest("POST", its[0].Request.URL, strings.Replace(its[1].Request.Body, "hi", "ho", 1)), its[0].digest)
	require.Equal(t, []frame{{15, 0}}, its[0].frames, "the frames of an edited body are gone")
	require.Equal(t, sample().interactions[1].frames, its[1].frames)
	require.Equal(t, sample().interactions[1].firstByte, its[1].firstByte)
	require.True(t, its[1].closedEarly)

	again, err := Seal(Options{}, data)
	require.NoError(t, err)
	require.Equal(t, data, again, "what is sealed stays as it is")
}

func TestSealRefuses(t *testing.T) {
	whole := encode(sample())
	_, err := Seal(Options{Path: "a/b.yaml"}, whole[:len(whole)-sealSize])
	requireCorrupt(t, err, "cut")
	_, err = Seal(Options{Path: "a/b.yaml"}, whole[:len(whole)-1])
	requireCorrupt(t, err, "cut in the seal")
	_, err = Seal(Options{Path: "a/b.yaml"}, []byte("version: 1\ninteractions: []\n"))
	require.ErrorContains(t, err, "no interactions")
	_, err = Seal(Options{Path: "a/b.yaml", Secrets: NewSecrets("hello\n   ")}, []byte(goVCRVersion1))
	require.NoError(t, err)
	_, err = Seal(Options{Path: "a/b.yaml", Secrets: NewSecrets("application/json")}, []byte(goVCRVersion1))
	require.Equal(t, &SecretError{"a/b.yaml", 0, "request.headers.Content-Type", "a configured secret"}, err)
}
