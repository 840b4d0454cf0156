package recorder

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// canary is a credential that matches no pattern.
const canary = `pa55/w0rd+"qu\ote"~Zx81bG`

func TestSaveRefusesConfiguredSecrets(t *testing.T) {
	quoted, err := json.Marshal(canary)
	require.NoError(t, err)
	escapes := ""
	for _, c := range canary {
		escapes += `\u00` + strings.ToUpper(base16(byte(c)))
	}
	twice, err := json.Marshal(string(quoted))
	require.NoError(t, err)
	percent := ""
	for _, c := range canary {
		percent += "%" + base16(byte(c))
	}
	forms := map[string]string{
		"raw":              canary,
		"JSON":             string(quoted),
		"JSON in JSON":     string(twice),
		"unicode escapes":  escapes,
		"query":            url.QueryEscape(canary),
		"path":             url.PathEscape(canary),
		"percent":          percent,
		"base64":           base64.StdEncoding.EncodeToString([]byte(canary)),
		"base64, 1 before": base64.StdEncoding.EncodeToString([]byte("u" + canary + "z")),
		"base64, 2 before": base64.StdEncoding.EncodeToString([]byte("u:" + canary + "zz")),
		"base64 raw url":   base64.RawURLEncoding.EncodeToString([]byte("u:" + canary)),
		"base64 url":       base64.URLEncoding.EncodeToString([]byte(canary + "…")),
	}
	for form, text := range forms {
		t.Run(form, func(t *testing.T) {
			requireSecret(t, "request.body", "a configured secret", "x"+text+"y", "ok", nil)
			requireSecret(t, "response.body", "a configured secret", "{}", "x"+text+"y", nil)
			requireSecret(t, "response.headers.X-Request-Id", "a configured secret", "{}", "ok", http.Header{"X-Request-Id": {"a", text}})
		})
	}
}

func base16(c byte) string {
	return string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])
}

// requireSecret records one exchange and checks that Save names the field,
// not the credential, and writes nothing.
func requireSecret(t *testing.T, field, kind, request, response string, h http.Header) {
	t.Helper()
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
		resp, err := says(response)(nil)
		for name, v := range h {
			resp.Header[name] = v
		}
		return resp, err
	}))
	r.o.Secrets = secrets.New("short", canary)
	ask(t, r, post(t, "https://api.test/", "{}"))
	ask(t, r, post(t, "https://api.test/", request))
	err := r.Save()
	if h == nil && field == "response.body" {
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: field, Kind: kind}, err)
	} else if h != nil {
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: field, Kind: kind}, err)
	} else {
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 1, Field: field, Kind: kind}, err)
	}
	require.ErrorContains(t, err, "cassette t/1.yaml not written: interaction ")
	require.NotContains(t, err.Error(), canary[:8])
	requireOffDisk(t, r.o.Dir, append(h["X-Request-Id"], request, response, canary[:8])...)
}

func TestSaveRefusesPatternsOfCredentials(t *testing.T) {
	const tail = "Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6VcQw1"
	cases := map[string]string{
		"sk-" + tail: "an API key (sk-…)", "sk-ant-api03-" + tail: "an API key (sk-…)", "sk-proj-" + tail: "an API key (sk-…)",
		"AKIA" + "IOSFODNN7EXAMPLE":            "an AWS access key id (AKIA…)",
		"ASIA" + "IOSFODNN7EXAMPLE":            "an AWS access key id (ASIA…)",
		"AIza" + tail:                          "a Google API key (AIza…)",
		"ya29." + tail:                         "a Google access token (ya29.…)",
		"ghp_" + tail:                          "a GitHub token (gh._…)",
		"github_pat_" + tail:                   "a GitHub token (github_pat_…)",
		"hf_" + tail:                           "a Hugging Face token (hf_…)",
		"gsk_" + tail:                          "a Groq key (gsk_…)",
		"xoxb-" + "1234567890-abc":             "a Slack token (xox…)",
		"Bearer " + tail:                       "a bearer token",
		"-----BEGIN RSA " + "PRIVATE KEY-----": "a private key (PEM)",
	}
	for text, kind := range cases {
		t.Run(kind, func(t *testing.T) {
			d := secrets.New()
			require.Equal(t, kind, d.Find(`{"a":"x `+text+`"}`))
			require.Equal(t, kind, d.Find(text))
			require.Equal(t, kind, d.Find(url.QueryEscape(text)))
		})
	}
	for _, text := range []string{
		"", "task-oriented-and-rather-long-names", "sk-", "Bearer of good news", "bearer ABCDEF1", "risk-averse people with long-hyphenated-words",
		"a AKIA", "xoxo-dear", "BEGIN PUBLIC KEY", "%zz%", `\`, `\u12`, strings.Repeat(`\\`, 100),
	} {
		require.Empty(t, secrets.New("short").Find(text), text)
	}
}

func TestSecretsInOtherPlaces(t *testing.T) {
	t.Run("url", func(t *testing.T) {
		r := newRecording(t, says("ok"))
		r.o.Secrets = secrets.New(canary)
		ask(t, r, post(t, "https://api.test/"+url.PathEscape(canary), "{}"))
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: "request.url", Kind: "a configured secret"}, r.Save())
	})
	t.Run("header of the cassette", func(t *testing.T) {
		r := newRecording(t, says("ok"))
		r.o.Secrets = secrets.New(canary)
		r.o.Header.Model = canary
		ask(t, r, post(t, "https://api.test/", "{}"))
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: -1, Field: "model", Kind: "a configured secret"}, r.Save())
		r.o.Header = cassette.Header{Digests: map[string]string{"prompt": canary}}
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: -1, Field: "digests", Kind: "a configured secret"}, r.Save())
	})
	t.Run("split across reads", func(t *testing.T) {
		r := newRecording(t, says("x"+canary[:9], canary[9:]+"y"))
		r.o.Secrets = secrets.New(canary)
		ask(t, r, post(t, "https://api.test/", "{}"))
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: "response.body", Kind: "a configured secret"}, r.Save())
	})
	t.Run("split across events", func(t *testing.T) {
		var events []string
		for _, piece := range []string{"the key is ", canary[:5], canary[5:12], canary[12:], " and ends"} {
			data, err := json.Marshal(map[string]any{"id": "chunk", "choices": []any{map[string]any{"delta": map[string]any{"content": piece}}}})
			require.NoError(t, err)
			events = append(events, "data: "+string(data)+"\r\n\r\n")
		}
		r := newRecording(t, says(events...))
		r.o.Secrets = secrets.New(canary)
		ask(t, r, post(t, "https://api.test/", "{}"))
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: "response.body (in pieces)", Kind: "a configured secret"}, r.Save())
	})
	t.Run("cause of a failure", func(t *testing.T) {
		cause := errors.New("dial https://u:" + canary + "@api.test")
		r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { return nil, cause }))
		r.o.Secrets = secrets.New(canary)
		_, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
		require.ErrorIs(t, err, cause)
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: "failed", Kind: "a configured secret"}, r.Save())
	})
	t.Run("cause of giving up", func(t *testing.T) {
		cause := errors.New("dial https://u:" + canary + "@api.test")
		r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { return nil, cause }))
		r.o.Secrets = secrets.New(canary)
		ctx, giveUp := context.WithCancel(context.Background())
		giveUp()
		_, err := r.RoundTrip(post(t, "https://api.test/", "{}").WithContext(ctx))
		require.ErrorIs(t, err, cause)
		err = r.Save()
		require.ErrorContains(t, err, "the cause is redacted")
		require.NotContains(t, err.Error(), canary)
		require.NotErrorIs(t, err, cause)
	})
}

func TestHeadersAreKeptByAllowList(t *testing.T) {
	kept := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Anthropic-Version": {"2023-06-01"}, "Openai-Version": {"1"},
		"Retry-After": {"3"}, "Request-Id": {"r"}, "X-Request-Id": {"r"}, "X-Ratelimit-Remaining-Tokens": {"1"}, "Anthropic-Ratelimit-Requests-Limit": {"2"},
		"Location": {"https://api.test/next?key=abc&a=1"},
	}
	dropped := http.Header{
		"Authorization": {"Bearer abc"}, "X-Api-Key": {"abc"}, "Api-Key": {"abc"}, "X-Goog-Api-Key": {"abc"}, "Cookie": {"a"}, "Set-Cookie": {"b"},
		"Date": {"Mon"}, "User-Agent": {"go"}, "Openai-Organization": {"org"}, "X-Amz-Security-Token": {"abc"}, "X-Unknown": {"abc"},
		"X-Ratelimit-" + strings.Repeat("a", 300): {"1"},
	}
	all := kept.Clone()
	for name, v := range dropped {
		all[name] = v
	}
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: all.Clone(), Body: http.NoBody}, nil
	}))
	req := post(t, "https://api.test/", "{}")
	req.Header = all.Clone()
	resp, _ := ask(t, r, req)
	require.Equal(t, all, resp.Header, "the live response is whole")
	require.Equal(t, all, req.Header)
	back := saved(t, r)
	kept["Location"] = []string{"https://api.test/next?a=1"}
	resp, _ = ask(t, back, post(t, "https://api.test/", "{}"))
	require.Equal(t, kept, resp.Header)
	require.Equal(t, kept, back.index.data.Interactions[0].Request.Headers)
}

func TestSaveLeavesTheOldCassette(t *testing.T) {
	broken := errors.New("connection reset")
	cases := map[string]struct {
		base answer
		use  func(*http.Response)
		text string
	}{
		"nothing sent": {},
		"the caller gives up": {
			base: func(*http.Request) (*http.Response, error) { return nil, broken },
			text: "save cassette t/1.yaml: interaction 1 (POST https://api.test/bad) failed; the cassette on disk stays: connection reset",
		},
		"the caller gives up in the body": {
			base: func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &chunkBody{chunks: []string{"a"}, end: broken}}, nil
			},
			use: func(resp *http.Response) {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			},
			text: "interaction 1 (POST https://api.test/bad) failed; the cassette on disk stays: connection reset",
		},
		"body is still open": {
			base: says("a"), use: func(*http.Response) {},
			text: "interaction 1 (POST https://api.test/bad) is not finished",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRecording(t, says("ok"))
			ask(t, r, post(t, "https://api.test/", "{}"))
			require.NoError(t, r.Save())
			old, err := os.ReadFile(cassetteFile(r))
			require.NoError(t, err)

			second, err := New(Options{Mode: Record, Dir: r.o.Dir, Path: r.o.Path, Base: says("other")})
			require.NoError(t, err)
			if c.base != nil {
				ask(t, second, post(t, "https://api.test/", "{}"))
				second.o.Base = c.base
				ctx, giveUp := context.WithCancel(context.Background())
				second.o.Base = answer(func(r *http.Request) (*http.Response, error) {
					giveUp()
					return c.base(r)
				})
				resp, err := second.RoundTrip(post(t, "https://api.test/bad?key=abc", "{}").WithContext(ctx))
				if err == nil {
					c.use(resp)
				}
				err = second.Save()
				require.ErrorContains(t, err, c.text)
			} else {
				require.NoError(t, second.Save())
				require.Empty(t, second.Digest())
			}
			now, err := os.ReadFile(cassetteFile(r))
			require.NoError(t, err)
			require.Equal(t, old, now)
			if c.base == nil {
				requireOnly(t, filepath.Dir(cassetteFile(r)), "1.yaml")
			} else {
				requireOnly(t, filepath.Dir(cassetteFile(r)), "1.yaml", "1.yaml.journal")
			}
		})
	}
}

func requireOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, names, got)
}

func TestSaveReplacesTheCassette(t *testing.T) {
	r := newRecording(t, says("first"))
	ask(t, r, post(t, "https://api.test/", "{}"))
	require.NoError(t, r.Save())
	info, err := os.Stat(cassetteFile(r))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
	first := r.Digest()
	require.NoError(t, r.Save())
	require.Equal(t, first, r.Digest(), "the same exchanges, the same bytes")

	second, err := New(Options{Mode: Record, Dir: r.o.Dir, Path: r.o.Path, Base: says("second")})
	require.NoError(t, err)
	ask(t, second, post(t, "https://api.test/", "{}"))
	_, got := ask(t, saved(t, second), post(t, "https://api.test/", "{}"))
	require.Equal(t, []string{"second"}, got)
	requireOnly(t, filepath.Dir(cassetteFile(r)), "1.yaml")
}

func TestSaveNamesAFolderItCannotWriteTo(t *testing.T) {
	r := newRecording(t, says("ok"))
	require.NoError(t, os.WriteFile(filepath.Join(r.o.Dir, "t"), nil, 0o644)) // a file where the folder should be
	ask(t, r, post(t, "https://api.test/", "{}"))
	err := r.Save()
	require.ErrorContains(t, err, "save cassette t/1.yaml: ")
	require.ErrorContains(t, err, filepath.Join(r.o.Dir, "t"))
	require.ErrorContains(t, err, "its journal is incomplete, too: ")
	require.NoError(t, os.Remove(filepath.Join(r.o.Dir, "t")))
	require.NoError(t, r.Save(), "what was recorded is not lost")

	require.NoError(t, os.Remove(cassetteFile(r)))
	require.NoError(t, os.MkdirAll(filepath.Join(cassetteFile(r), "x"), 0o755)) // a folder where the file should be
	require.ErrorContains(t, r.Save(), "save cassette t/1.yaml: ")
	requireOnly(t, filepath.Dir(cassetteFile(r)), "1.yaml")
}

// A crash at any moment of Save leaves a complete file at the cassette's path.
func TestCrashDuringSaveLeavesACompleteFile(t *testing.T) {
	r := newRecording(t, says("ok"))
	ask(t, r, post(t, "https://api.test/", "{}"))
	require.NoError(t, r.Save())
	file := cassetteFile(r)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	stop := make(chan struct{})
	bad := make(chan error, 1)
	go func() {
		defer close(bad)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != string(whole) {
				bad <- errors.Join(err, errors.New("the cassette was in pieces"))
				return
			}
		}
	}()
	for range 100 {
		require.NoError(t, r.Save())
	}
	close(stop)
	require.NoError(t, <-bad)

	left := filepath.Join(filepath.Dir(file), ".1.yaml.tmp") // as a kill before the rename leaves it
	require.NoError(t, os.WriteFile(left, whole[:10], 0o600))
	require.NoError(t, r.Save())
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, whole, now)
}

func TestSaveRefusesInvalidCassettes(t *testing.T) {
	t.Run("request body fails", func(t *testing.T) {
		r := newRecording(t, says("ok"))
		req := post(t, "https://api.test/", "")
		req.ContentLength, req.Body = -1, &chunkBody{chunks: []string{"{"}, end: errors.New("disk gone")}
		_, err := r.RoundTrip(req)
		require.ErrorContains(t, err, "read request body: disk gone")
		require.ErrorContains(t, r.Save(), "interaction 0 (POST https://api.test/) failed; the cassette on disk stays: read request body: disk gone")
	})
	t.Run("too many interactions", func(t *testing.T) {
		r := newRecording(t, says("ok"))
		r.recordings = make([]*recording, cassette.MaxInteractions+1)
		for i := range r.recordings {
			r.recordings[i] = &recording{done: true, it: sampled().Interactions[0]}
		}
		require.ErrorContains(t, r.Save(), fmt.Sprintf("cassette t/1.yaml not written: %d interactions", cassette.MaxInteractions+1))
	})
	t.Run("no HTTP status", func(t *testing.T) {
		r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 0, Header: http.Header{}, Body: http.NoBody}, nil
		}))
		ask(t, r, post(t, "https://api.test/", "{}"))
		require.ErrorContains(t, r.Save(), "response code 0 is not an HTTP status")
	})
}

func TestTooLargeExchangesAreNotRecorded(t *testing.T) {
	k := &recording{body: make([]byte, cassette.MaxBytes-1)}
	k.addRead([]byte("ab"), 0)
	require.ErrorContains(t, k.err, "larger than 67108864 bytes")

	k = &recording{}
	for range cassette.MaxReads + 10 {
		k.addRead([]byte("a"), 1000)
	}
	require.Len(t, k.it.Reads, cassette.MaxReads)
	require.Equal(t, cassette.BodyRead{Bytes: 11, Micros: 1}, k.it.Reads[cassette.MaxReads-1])
	sum := 0
	for _, read := range k.it.Reads {
		sum += read.Bytes
	}
	require.Equal(t, len(k.body), sum)

	req := post(t, "https://api.test/", "")
	req.ContentLength, req.Body = -1, io.NopCloser(io.LimitReader(zeros{}, cassette.MaxBytes+1))
	_, err := requestBody(req)
	require.ErrorContains(t, err, "request body is larger than 67108864 bytes")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A note is the last of the cassette whenever it was added, and only Save writes it.
func TestNote(t *testing.T) {
	r := newRecording(t, says("ok"))
	r.Note("http://agent.invalid/record", "{}\n")
	ask(t, r, post(t, "http://model.example/v1", `{"a":1}`))
	journal, err := os.ReadFile(cassetteFile(r) + journalSuffix)
	require.NoError(t, err)
	require.NotContains(t, string(journal), "agent.invalid")
	list := saved(t, r).index.data.Interactions
	require.Len(t, list, 2)
	require.Equal(t, "http://agent.invalid/record", list[1].Request.URL)
	require.Equal(t, "{}\n", list[1].Request.Body)

	r = newRecording(t, says("ok"))
	r.o.Secrets.Add(canary)
	r.Note("http://agent.invalid/record", canary)
	require.ErrorAs(t, r.Save(), new(*cassette.SecretError))
}
