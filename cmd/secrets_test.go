package cmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// The credentials in a run: the candidate's key, a tool's, one in the suite's world, and one that
// only a client library reads.
const (
	canaryKey   = `kEy-7/Qz"p+w\9Xv2~Lm4`
	canaryTool  = "tool-canary-5521-aWq"
	canaryWorld = "world-canary-7312-zRt"
	canaryCloud = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYcanary1234"
)

// decoders decode the possible forms of a secret in the simplest way. They share no code with the
// package under test.
var (
	letterRun  = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)
	jsonCode   = regexp.MustCompile(`\\u00([0-9a-fA-F]{2})`)
	jsonEscape = regexp.MustCompile(`\\(.)`)
	spacing    = regexp.MustCompile(`[^A-Za-z0-9]+`)
	textPiece  = regexp.MustCompile(`"(?:content|arguments|text)":"((?:[^"\\]|\\.)*)"`)
)

// readings returns all decoded forms of text.
func readings(text string) []string {
	all := []string{text}
	layers := 0
	for layer := text; layers < 3; layers++ {
		plain := jsonCode.ReplaceAllStringFunc(layer, func(s string) string {
			c, _ := strconv.ParseUint(s[4:], 16, 8)
			return string(rune(c))
		})
		next := jsonEscape.ReplaceAllString(plain, "$1")
		if plain == layer && next == layer {
			break // no escape is left
		}
		all = append(all, plain, next)
		layer = next
	}
	pieces := ""
	for _, m := range textPiece.FindAllStringSubmatch(text, -1) {
		pieces += m[1]
	}
	all = append(all, pieces, html.UnescapeString(text), strings.Join(strings.Fields(text), ""))
	for _, layer := range all[:1+2*layers] { // with separators, also escaped ones
		all = append(all, spacing.ReplaceAllString(layer, ""))
	}
	all = append(all, spacing.ReplaceAllString(pieces, ""))
	if plain, err := url.QueryUnescape(text); err == nil {
		all = append(all, plain)
	}
	for _, run := range letterRun.FindAllString(text, -1) {
		if plain, err := url.PathUnescape(run); err == nil {
			all = append(all, plain)
		}
		if plain, err := hex.DecodeString(run); err == nil {
			all = append(all, string(plain))
		}
		for skip := range min(8, len(run)) {
			for cut := range min(8, len(run)-skip) {
				part := strings.ToUpper(run[skip : len(run)-cut])
				for _, of := range []*base32.Encoding{base32.StdEncoding, base32.HexEncoding} {
					if plain, err := of.WithPadding(base32.NoPadding).DecodeString(part); err == nil {
						all = append(all, string(plain))
					}
				}
			}
		}
		std := strings.NewReplacer("-", "+", "_", "/").Replace(run)
		for skip := range 4 {
			for cut := range 4 {
				if plain, err := base64.RawStdEncoding.DecodeString(std[skip : len(std)-cut]); err == nil {
					all = append(all, string(plain))
				}
			}
		}
	}
	return all
}

// forms are the forms in which a reading, in lower case, can contain a canary.
var forms = sync.OnceValue(func() (all []string) {
	for _, canary := range []string{canaryKey, canaryTool, canaryWorld, canaryCloud} {
		for _, form := range []string{canary, url.PathEscape(canary), url.QueryEscape(canary), spacing.ReplaceAllString(canary, "")} {
			all = append(all, strings.ToLower(form))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
})

// clean has the digests of files without a canary, because most files are the same in every run.
var clean sync.Map

// holds returns the canary that a text contains in any encoding.
func holds(text string) string {
	for _, reading := range readings(text) {
		reading = strings.ToLower(reading)
		for _, form := range forms() {
			if strings.Contains(reading, form) {
				return form
			}
		}
	}
	return ""
}

// The simple decoders find a canary in every encoding.
func TestSimpleDecodersFindCanaries(t *testing.T) {
	for name, hide := range hidings {
		require.NotEmpty(t, holds("x "+hide(canaryKey)+" y"), name)
	}
	require.Empty(t, holds("nothing of the kind"))
}

var hidings = map[string]func(string) string{
	"raw":        func(s string) string { return s },
	"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 +1":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("a" + s + "bc")) },
	"base64 url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("ab" + s)) },
	"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"query":      url.QueryEscape,
	"json": func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, `\u00%02X`, c)
		}
		return b.String()
	},
	"html":   html.EscapeString,
	"upper":  strings.ToUpper,
	"lower":  strings.ToLower,
	"base32": func(s string) string { return base32.StdEncoding.EncodeToString([]byte("a" + s + "b")) },
	"base32 hex": func(s string) string {
		return strings.ToLower(base32.HexEncoding.EncodeToString([]byte("abc" + s + "d")))
	},
	"blanks":     func(s string) string { return strings.Join(strings.Split(s, ""), " ") },
	"dots":       func(s string) string { return strings.Join(strings.Split(strings.ToUpper(s), ""), ".") },
	"zero width": func(s string) string { return strings.Join(strings.Split(s, ""), "\u200b") },
	"lines":      func(s string) string { return strings.Join(strings.Split(s, ""), "\n") },
}

// echo is a provider and a tool that return the request.
type echo struct {
	hide   func(string) string
	place  string
	canary string
}

func (e echo) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if strings.HasPrefix(req.URL.Path, "/tool") {
		_ = json.NewEncoder(w).Encode(map[string]string{"value": e.at("tool")})
		return
	}
	w.Header().Set("X-Request-Id", "r "+oneHeader(e.at("header")))
	if e.place == "limit" {
		w.Header().Set("X-Ratelimit-Reset-Requests", oneHeader(e.at("limit")))
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(http.StatusTooManyRequests)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "slow down " + e.at("limit"), "code": e.at("limit")}})
		return
	}
	if e.place == "error" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "bad key " + e.at("error"), "type": "invalid_request_error"}})
		return
	}
	message := map[string]any{"type": "respond", "message": "It is " + e.at("answer") + "."}
	var body bytes.Buffer
	_, _ = body.ReadFrom(req.Body)
	switch {
	case e.place == "tool" && !strings.Contains(body.String(), "get_counts ok") && !strings.Contains(body.String(), "E_SECRET"):
		message = map[string]any{"type": "tool", "name": "get_counts", "args": map[string]any{"label": "angry"}}
	case e.place == "human" && !strings.Contains(body.String(), "canary"):
		message = map[string]any{"type": "clarify", "message": "Which one?"}
	case e.place == "name":
		message = map[string]any{"type": "tool", "name": e.at("name"), "args": map[string]any{}}
	}
	text, _ := json.Marshal(map[string]any{
		"control": map[string]any{"done": message["type"] == "respond", "reason": "ok"}, "next_action": message,
		"state_update": map[string]any{"plan": e.at("plan"), "observation": "", "confidence": 0.5},
	})
	w.Header().Set("Content-Type", "text/event-stream")
	for i := 0; i < len(text); i += 7 {
		piece, _ := json.Marshal(string(text[i:min(i+7, len(text))]))
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":null}]}\n\n", piece)
	}
	last, _ := json.Marshal(map[string]any{
		"id": "c " + e.at("id"), "model": "m " + e.at("model"), "system_fingerprint": "f " + e.at("fingerprint"),
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": e.finish()}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "u " + e.at("usage"): 7},
	})
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", last)
}

func (e echo) finish() string {
	if e.place == "finish" {
		return e.at("finish")
	}
	return "stop"
}

// oneHeader returns a text without the characters that a header cannot contain.
func oneHeader(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// at returns the encoded canary at the tested place, and a plain word elsewhere.
func (e echo) at(place string) string {
	if place == e.place {
		return e.hide(e.canary)
	}
	return "nothing"
}

const echoSuite = `name: echo
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC, env: {PLANTED: %[2]q}}}
defaults: {world: w, tools: [get_counts]}
candidates:
  - {name: c, provider: openai-compatible, model: m, base_url: "%[1]s/v1", stream: true}
tools:
  - name: get_counts
    description: Counts.
    schema: {type: object, properties: {label: {type: string}}, required: [label]}
    http: {url: "%[1]s/tool", headers: {Authorization: {env: TOOL_KEY, prefix: "Bearer "}, X-Planted-Token: {env: PLANTED}}}
tasks:
  - id: E01
    request: How many?
    replies: ["it is canary %[3]s"]
    expect: {status: answered}
`

// TestNoArtefactHoldsASecret puts credentials wherever a run reads or writes. It records and runs
// live with a server that returns them, and searches all files and output with its own decoders.
func TestNoArtefactHoldsASecret(t *testing.T) {
	testkit.Slow(t)
	places := map[string]string{
		"header": canaryKey, "answer": canaryKey, "plan": canaryTool, "error": canaryKey,
		"tool": canaryTool, "human": canaryWorld, "name": canaryCloud,
		"id": canaryKey, "model": canaryKey, "fingerprint": canaryKey, "usage": canaryKey, "finish": canaryKey, "limit": canaryKey,
	}
	modes, cases := []string{"record", "live"}, 0
	for _, place := range slices.Sorted(maps.Keys(places)) {
		canary := places[place]
		for _, name := range slices.Sorted(maps.Keys(hidings)) {
			hide := hidings[name]
			rare := slices.Contains([]string{"id", "model", "fingerprint", "usage", "finish", "limit"}, place)
			if place != "answer" && name != "raw" && (rare || name != "base64 +1" && name != "json") {
				continue // one place is enough for the rare encodings
			}
			cases++
			for i := range testkit.Long(1, len(modes)) { // a sample alternates between them
				mode := modes[(cases+i)%len(modes)]
				t.Run(place+"/"+name+"/"+mode, func(t *testing.T) {
					e := echo{hide: hide, place: place, canary: canary}
					code, printed, dir := runEcho(t, e, mode)
					require.Contains(t, []int{exit.Accepted, exit.Failed}, code, printed)
					if where := secretIn(t, dir); where != "" {
						t.Fatalf("a secret is in %s\n%s", where, printed)
					}
					require.Empty(t, holds(printed), printed)
					if mode == "live" && place == "answer" {
						require.Contains(t, printed, "[secret] replaces it there", "the person is told")
					}
					if mode == "record" && place != "error" && place != "limit" && place != "tool" {
						require.Contains(t, printed, "not written: interaction", "a cassette is refused")
						require.Contains(t, printed, "a configured secret")
					}
				})
			}
		}
	}
}

// runEcho runs the program in process and returns its output and the folder with its suite and runs,
// without the file of the suite, which contains the secrets.
func runEcho(t *testing.T, e echo, mode string) (code int, printed, dir string) {
	t.Helper()
	server := httptest.NewServer(e)
	defer server.Close()
	dir = t.TempDir()
	suite := filepath.Join(dir, "s")
	require.NoError(t, os.MkdirAll(suite, 0o755))
	file := filepath.Join(suite, "suite.yaml")
	planted := "nothing"
	if e.place == "human" {
		planted = strings.ReplaceAll(e.at("human"), `\`, `\\`)
	}
	text := fmt.Sprintf(echoSuite, server.URL, canaryWorld, planted)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	env := map[string]string{
		"LLM_API_KEY": canaryKey, "TOOL_KEY": canaryTool, "AWS_SECRET_ACCESS_KEY": canaryCloud, "HOME": dir,
	}
	var out bytes.Buffer
	run := func(args ...string) int {
		return execute(&process{
			args: args, stdout: &out, stderr: &out, now: time.Now,
			env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		})
	}
	runs := filepath.Join(dir, "runs")
	code = run("run", "--suite", suite, "--runs", runs, "--mode", mode, "--max-requests", "20", "--config", writeEmpty(t, dir))
	_ = run("canary", "--suite", suite, "--runs", runs, "--config", writeEmpty(t, dir))
	_ = run("show", "latest", "--runs", runs, "--config", writeEmpty(t, dir))
	_ = run("show", "latest", "E01", "--runs", runs, "--config", writeEmpty(t, dir))
	require.Zero(t, run("report", "latest", "--runs", runs, "-o", filepath.Join(dir, "again.md"), "--config", writeEmpty(t, dir)), out.String())
	require.NoError(t, os.Remove(file))
	return code, out.String(), dir
}

func writeEmpty(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "cupel.yaml")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	return file
}

// secretIn returns the name of the first file below dir that contains a canary. It decodes Parquet
// files, because they are compressed.
func secretIn(t *testing.T, dir string) (where string) {
	t.Helper()
	files := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if holds(path) != "" {
			where = "a file's name"
		}
		if d.IsDir() {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode()&0o133, "%s has mode %v", path, info.Mode())
		if strings.HasSuffix(path, ".png") {
			return nil
		}
		if filepath.Base(path) == "episodes.parquet" {
			rows, err := ledger.Read(filepath.Dir(path))
			require.NoError(t, err)
			plain, err := json.Marshal(rows)
			require.NoError(t, err)
			text = append(text, plain...)
			require.Len(t, rows.Episodes, 1)
		}
		digest := sha256.Sum256(text)
		if _, ok := clean.Load(digest); ok {
			return nil
		}
		if holds(string(text)) != "" {
			where = path
		} else {
			clean.Store(digest, true)
		}
		return nil
	}))
	require.Greater(t, files, 8)
	return where
}

// cupel also knows the credentials that client libraries read from files.
func TestCredentialsOfLibrariesAreKnown(t *testing.T) {
	dir := t.TempDir()
	put := func(text string, path ...string) {
		file := filepath.Join(append([]string{dir}, path...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	put("[default]\naws_access_key_id = id-0123456789\naws_secret_access_key=secret/0123456789\nregion = us-east-1\n", ".aws", "credentials")
	put(`{"type":"service_account","client_email":"me@example.test","private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----\n","refresh_token":"refresh-0123456789"}`,
		".config", "gcloud", "application_default_credentials.json")
	env := map[string]string{"HOME": dir, "AWS_SESSION_TOKEN": "session-0123456789", "MISTRAL_API_KEY": "mistral-0123456789"}
	p := &process{stdout: new(bytes.Buffer), stderr: new(bytes.Buffer), env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	p.guard()
	p.loadCredentials()
	for _, known := range []string{"secret/0123456789", "id-0123456789", "MIIEvQIBADANBgkqhkiG", "refresh-0123456789", "session-0123456789", "mistral-0123456789"} {
		require.NotEmpty(t, p.secrets.Find(known), known)
	}
	require.Empty(t, p.secrets.Find("us-east-1 me@example.test service_account "+dir))

	env["AWS_SHARED_CREDENTIALS_FILE"], env["GOOGLE_APPLICATION_CREDENTIALS"] = dir, filepath.Join(dir, "none")
	p.guard()
	p.loadCredentials()
	require.Empty(t, p.secrets.Find("secret/0123456789"), "files that are named take the place of the usual ones")
}

func TestOutputIsRedacted(t *testing.T) {
	var out bytes.Buffer
	p := &process{stdout: &out, stderr: &out, env: func(string) (string, bool) { return canaryKey, true }}
	p.guard()
	_, _ = p.credential("ANY_KEY")
	text := "one\nsaid " + canaryKey + " aloud\nthree\n"
	n, err := fmt.Fprint(p.stdout, text)
	require.NoError(t, err)
	require.Equal(t, len(text), n)
	require.Equal(t, "one\nsaid [secret] aloud\nthree\n", out.String())
	_, ok := console.File(p.stdout)
	require.False(t, ok)
	_, ok = console.File(console.Text(os.Stdout, nil))
	require.True(t, ok)
}
