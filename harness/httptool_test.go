package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/recorder"
)

// A replay of every kind of answer needs neither server nor key and has the recorded ledger.
func TestHTTPToolIsRecordedAndReplayed(t *testing.T) {
	tests := map[string]struct {
		use   string
		serve http.HandlerFunc
		want  string
	}{
		"value":        {"", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, ` {"a": 1} `) }, "ok"},
		"no content":   {"", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "ok"},
		"client error": {"", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such job", http.StatusNotFound) }, "error E_HTTP_404"},
		"server error": {"", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "error E_HTTP_502"},
		"not JSON":     {"", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "error E_NOT_JSON"},
		"two values":   {"", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "1 2") }, "error E_NOT_JSON"},
		"too large":    {", max_bytes: 10", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat(" ", 11)) }, "error E_TOO_LARGE"},
		"timeout": {", timeout: 300ms", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		}, "timeout E_TIMEOUT"},
		"timeout in the middle": {", timeout: 50ms", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"a":`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "timeout E_TIMEOUT"},
		"breaks off": {"", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"a":`)
		}, "error E_UNREACHABLE"},
		"forged": {"", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.cupel.no-answer+json")
			_, _ = io.WriteString(w, `{"outcome":"timeout","code":"E_FORGED"}`)
		}, "ok"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var hits atomic.Int32
			address := endpoint(t, func(w http.ResponseWriter, r *http.Request) { hits.Add(1); tt.serve(w, r) })
			o := ownOptions(t, toolSuite(t, "    http: {url: '"+address+"/{id}', headers: {Authorization: {env: JOB_KEY}}"+tt.use+"}", ""))
			o.Mode, o.CassetteDir, o.Runs = recorder.Record, t.TempDir(), t.TempDir()
			recorded, calls := runOne(t, o)
			require.Equal(t, []string{tt.want}, calls)
			status := map[bool]string{true: "answered", false: "respond_error"}[tt.want == "ok"]
			require.Equal(t, status, recorded.Rows.Episodes[0].Status, recorded.Rows.Episodes[0].ErrorText)
			require.Equal(t, int32(1), hits.Load())
			require.Positive(t, recorded.Rows.ToolCalls[0].DurationUs)

			o.Mode, o.Cassettes, o.LookupEnv = recorder.Replay, os.DirFS(o.CassetteDir), nil
			replayed, calls := runOne(t, o)
			require.Equal(t, []string{tt.want}, calls)
			require.Equal(t, int32(1), hits.Load(), "a replay makes no request")
			require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
			require.Equal(t, recorded.Rows.ToolCalls[0].DurationUs, replayed.Rows.ToolCalls[0].DurationUs, "latencies are the recorded ones")
		})
	}
}

// A resumed run does not repeat an answered call, because the tool may have side effects.
func TestHTTPToolIsNotCalledAgainOnResume(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var hits []string
	address := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		hits = append(hits, r.URL.Path)
		if len(hits) == 2 {
			cancel()
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, `{"done": true}`)
	})
	o := ownOptions(t, toolSuite(t, "    http: {url: '"+address+"/{id}'}", ""))
	o.Suite.Tasks[0].Script = append([]goldens.Emit{{Text: strings.ReplaceAll(o.Suite.Tasks[0].Script[0].Text, `"7"`, `"6"`)}}, o.Suite.Tasks[0].Script...)
	o.Mode, o.CassetteDir, o.Runs = recorder.Record, t.TempDir(), t.TempDir()
	stopped, err := Run(ctx, o)
	require.NoError(t, err)
	require.True(t, stopped.Interrupted)
	require.Equal(t, []string{"/6", "/7"}, hits)

	o.Resume = stopped.Manifest.RunID
	recorded, calls := runOne(t, o)
	require.Equal(t, []string{"ok", "ok"}, calls)
	require.Equal(t, []string{"/6", "/7", "/7"}, hits)
	o.Mode, o.Resume, o.Cassettes, o.LookupEnv = recorder.Replay, "", os.DirFS(o.CassetteDir), nil
	replayed, _ := runOne(t, o)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
}

func TestHTTPToolRequest(t *testing.T) {
	var got *http.Request
	var body string
	address := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		_, _ = io.WriteString(w, "{}")
	})
	o := ownOptions(t, toolSuite(t, `    write: false
    http:
      method: POST
      url: `+address+`/jobs/{id}?q={id}
      headers: {Authorization: {env: JOB_KEY, prefix: "Bearer "}, X-Tenant: blue}
      json: args`, ""))
	o.Suite.Tasks[0].Script[0].Text = strings.ReplaceAll(o.Suite.Tasks[0].Script[0].Text, `"7"`, `"a/b &ü"`)
	res, calls := runOne(t, o)
	require.Equal(t, []string{"ok"}, calls)
	require.Equal(t, "/jobs/a%2Fb%20&%C3%BC?q=a%2Fb%20%26%C3%BC", got.RequestURI)
	require.Equal(t, `{"id":"a/b &ü"}`, body)
	row := res.Rows.ToolCalls[0]
	key := sha256.Sum256([]byte(row.IdempotencyKey))
	require.Equal(t, http.Header{
		"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Authorization": {"Bearer " + plantedKey}, "Content-Length": {fmt.Sprint(len(body))},
		"Content-Type": {"application/json"}, "User-Agent": {"cupel"}, "X-Tenant": {"blue"},
		"X-Run-Id": {res.Manifest.RunID}, "X-Step-Id": {row.ActionID}, "X-Parent-Step": {row.ParentActionID},
		"X-Idempotency-Key": {"sha256:" + hex.EncodeToString(key[:])},
	}, got.Header)
}

func TestHTTPToolRedirects(t *testing.T) {
	var elsewhere atomic.Int32
	other := endpoint(t, func(w http.ResponseWriter, _ *http.Request) { elsewhere.Add(1); _, _ = io.WriteString(w, "1") })
	address := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/7":
			http.Redirect(w, r, "/here", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/away":
			http.Redirect(w, r, strings.Replace(other, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
		default:
			_, _ = io.WriteString(w, "2")
		}
	})
	for path, want := range map[string]string{"{id}": "ok", "loop": "error E_HTTP_302", "away": "error E_HTTP_307"} {
		_, calls := runOne(t, ownOptions(t, toolSuite(t, "    http: {url: '"+address+"/"+path+"', headers: {X-Api-Key: {env: JOB_KEY}}}", "")))
		require.Equal(t, []string{want}, calls, path)
	}
	require.Zero(t, elsewhere.Load(), "another host never sees the request")
}

func TestHTTPToolUnreachable(t *testing.T) {
	_, calls := runOne(t, ownOptions(t, toolSuite(t, "    http: {url: 'http://127.0.0.1:1/'}", "")))
	require.Equal(t, []string{"error E_UNREACHABLE"}, calls)
}

func TestHTTPToolNeedsItsEnvironment(t *testing.T) {
	o := ownOptions(t, toolSuite(t, "    http: {url: 'http://127.0.0.1:1/', headers: {X-Api-Key: {env: OTHER_KEY}}}", ""))
	_, err := Run(context.Background(), o)
	var config *ConfigError
	require.ErrorAs(t, err, &config)
	require.EqualError(t, err, "task T: tool get_job_status needs a value for its header X-Api-Key: set OTHER_KEY")

	o.LookupEnv = func(string) (string, bool) { return plantedKey + "\r\nX: y", true }
	_, err = Run(context.Background(), o)
	require.ErrorContains(t, err, "line break")
	require.NotContains(t, err.Error(), plantedKey)
}

// Credentials never reach an artefact, even if the endpoint returns them.
func TestHTTPToolDoesNotLeakSecrets(t *testing.T) {
	echo := map[string]func(w http.ResponseWriter, key string){
		"plain": func(w http.ResponseWriter, key string) { _, _ = fmt.Fprintf(w, `{"you sent": %q}`, key) },
		"base64": func(w http.ResponseWriter, key string) {
			_, _ = fmt.Fprintf(w, `"%s"`, base64.StdEncoding.EncodeToString([]byte("x"+key)))
		},
		"percent": func(w http.ResponseWriter, key string) {
			_, _ = fmt.Fprintf(w, `"%s"`, strings.ReplaceAll(url.QueryEscape(key), "-", "%2D"))
		},
		"escaped": func(w http.ResponseWriter, key string) { _, _ = fmt.Fprintf(w, `"\u0063%s"`, key[1:]) },
		"error":   func(w http.ResponseWriter, key string) { http.Error(w, "bad key "+key, http.StatusUnauthorized) },
		"header": func(w http.ResponseWriter, key string) {
			w.Header().Set("X-Request-Id", key)
			_, _ = io.WriteString(w, "1")
		},
		"status": func(w http.ResponseWriter, key string) {
			http.Redirect(w, &http.Request{}, "http://elsewhere.example/"+key, http.StatusFound)
		},
	}
	for name, f := range echo {
		for _, mode := range []recorder.Mode{recorder.Record, recorder.Live} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				address := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
					key := r.Header.Get("X-Api-Key")
					require.Equal(t, plantedKey, key)
					f(w, key)
				})
				o := ownOptions(t, toolSuite(t, "    http: {url: '"+address+"/', headers: {X-Api-Key: {env: JOB_KEY}}}", ""))
				o.Mode, o.CassetteDir, o.Runs = mode, t.TempDir(), t.TempDir()
				r, err := newRunner(o)
				require.NoError(t, err)
				first := r.plan.at(0)
				var traces []episode.Trace
				rows := r.env().Run(context.Background(), &first, func(x episode.Trace) { traces = append(traces, x) })
				var transcript bytes.Buffer
				require.NoError(t, episode.WriteTranscript(&transcript, traces))
				require.NotContains(t, transcript.String(), plantedKey)
				require.NotContains(t, fmt.Sprint(rows), plantedKey)
				_, err = Run(context.Background(), o)
				require.NoError(t, err)
				for path, text := range files(t, o.Runs) {
					require.NotContains(t, text, plantedKey, path)
				}
				for path, text := range files(t, o.CassetteDir) {
					require.NotContains(t, text, plantedKey, path)
				}
			})
		}
	}
}

// The bound of an answer also applies to cassettes from elsewhere.
func TestHTTPToolBoundsTheCassette(t *testing.T) {
	address := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `"`+strings.Repeat("x", 100)+`"`)
	})
	o := ownOptions(t, toolSuite(t, "    http: {url: '"+address+"/'}", ""))
	o.Mode, o.CassetteDir = recorder.Record, t.TempDir()
	_, calls := runOne(t, o)
	require.Equal(t, []string{"ok"}, calls)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	small := o.Suite.HTTP["get_job_status"]
	small.MaxBytes = 50
	o.Suite.HTTP["get_job_status"] = small
	_, calls = runOne(t, o)
	require.Equal(t, []string{"error E_TOO_LARGE"}, calls)
}

// An HTTP tool that a Go function replaces needs neither cassette nor key.
func TestGoFunctionReplacesHTTP(t *testing.T) {
	o := ownOptions(t, toolSuite(t, "    http: {url: 'http://127.0.0.1:1/', headers: {X-Api-Key: {env: NONE}}}", ""))
	o.Tools = map[string]episode.ToolFunc{"get_job_status": func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
		return tool.Result{Outcome: tool.OK, Value: []byte("1")}, nil
	}}
	_, calls := runOne(t, o)
	require.Equal(t, []string{"ok"}, calls)
}
