package cassette

import (
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

// sample returns the data of two exchanges with a model.
func sample() *Data {
	t := &Data{Header: Header{
		Suite: "counts", Task: "week", Candidate: "contract: \"mini\" #1", Trial: 2, Provider: "openai", Model: "gpt-5.1-mini",
		Simulated: true, Recorded: "2026-01-02", Adapter: "1", Digests: map[string]string{"prompt": "ab12", "tools": "0e99"},
	}}
	for i, body := range []string{"{\"choices\":[]}", "data: {\"a\":1}\n\ndata: {\"b\":\"é\"}\n\ndata: [DONE]\n\n"} {
		it := Interaction{
			Request: govcr.Request{
				Method: "POST", URL: "https://api.test/v1/chat?x=1", Body: `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
				Headers: map[string][]string{"Content-Type": {"application/json"}, "Accept": {"a/b", "c/d"}},
			},
			Response: govcr.Response{
				Status: "200 OK", Code: 200, Body: body, Duration: time.Duration(i) * 503123 * time.Microsecond,
				Headers: map[string][]string{"X-Request-Id": {"req \x80"}},
			},
		}
		if i == 1 {
			it.Role = "judge"
		}
		it.Digest = it.Raw().Digest()
		it.FirstByte = time.Duration(i) * time.Millisecond
		it.Reads = []BodyRead{{5, 1000}, {len(body) - 5, 0}}
		it.ClosedEarly = i == 1
		if i == 0 {
			it.Failure, it.TimedOut = "read tcp: \"reset\" ä\n", true
		}
		t.Interactions = append(t.Interactions, it)
	}
	return t
}

func load1(data []byte, f File) (*Data, error) {
	f.FS, f.Path = fstest.MapFS{"a/b.yaml": &fstest.MapFile{Data: data}}, "a/b.yaml"
	return Load(f)
}

// requireSame compares two cassettes without what is not in the file: forms, the file's digest,
// and whether a value is nil or empty.
func requireSame(t testing.TB, want, got *Data) {
	t.Helper()
	require.Equal(t, want.Header, got.Header)
	require.Len(t, got.Interactions, len(want.Interactions))
	for i := range want.Interactions {
		a, b := want.Interactions[i], got.Interactions[i]
		a.Request.Form, b.Request.Form = nil, nil
		if len(a.Reads) == 0 {
			a.Reads, b.Reads = nil, b.Reads[:len(b.Reads):len(b.Reads)]
			require.Empty(t, b.Reads)
			b.Reads = nil
		}
		require.Equal(t, a, b)
	}
}

func TestFileFormat(t *testing.T) {
	got := string(Encode(sample()))
	golden, err := os.ReadFile(filepath.Join("testdata", "sample.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(golden), got)
	want := `---
version: 1
cupel:
  format: 1
  suite: "counts"
  task: "week"
  candidate: "contract: \"mini\" #1"
  provider: "openai"
  model: "gpt-5.1-mini"
  recorded: "2026-01-02"
  adapter: "1"
  trial: 2
  simulated: true
  digests:
    "prompt": "ab12"
    "tools": "0e99"
interactions:
- request:
    body: |-
      {"model":"m","messages":[{"role":"user","content":"hi"}]}
    form: {}
    headers:
      "Accept":
      - "a/b"
      - "c/d"
      "Content-Type":
      - "application/json"
    url: "https://api.test/v1/chat?x=1"
    method: "POST"
  response:
    body: |-
      {"choices":[]}
    headers:
      "X-Request-Id":
      - !!binary "cmVxIIA="
    status: "200 OK"
    code: 200
    duration: 0s
  cupel:
    digest: "be9557b9c2c4ea36f73a2b7e7ebe1b1dc1fca0f60d1bf4b9c54b5ef7e26b2c5d"
    first_byte: 0
    frames: [[5, 1000], [9, 0]]
`
	digest := sample().Interactions[0].Digest
	i := strings.Index(want, `digest: "be`) + len(`digest: "`)
	want = want[:i] + digest + want[i+64:]
	require.Equal(t, want, got[:len(want)])
	require.Contains(t, got, "    body: |+\n      data: {\"a\":1}\n\n      data: {\"b\":\"é\"}\n\n      data: [DONE]\n\n    headers:")
	require.Contains(t, got, "    closed_early: true\n    role: \"judge\"\nseal: sha256:")
}

func TestBothReadersReadWhatIsWritten(t *testing.T) {
	data := Encode(sample())
	content, _, err := checksum.Check(data)
	require.NoError(t, err)
	fast, ok := DecodeContent(string(content))
	require.True(t, ok)
	requireSame(t, sample(), fast)
	slow, err := readYAML(content, true)
	require.NoError(t, err)
	requireSame(t, sample(), slow)
}

// pieces are texts that are difficult to represent in YAML.
var pieces = []string{
	" ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\u00a0", "\u007f",
	"\x00", "\x1b", "\x80", "\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\U0010ffff", "\U0001f600", "é", "#", "# c", ": ", "- ", "? ", "---", "...", "|", ">",
	"\"", "'", "\\", "\\\n", "%", "&a", "*a", "!!binary", "{", "}", "[", "]", ",", "`", "@", "data: {}", "x", "yes", "null", "0x1f", "1e3", "=", "<<",
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.Intn(12) {
		if rng.Intn(8) == 0 {
			b.WriteByte(byte(rng.Intn(256)))
			continue
		}
		b.WriteString(pieces[rng.Intn(len(pieces))])
	}
	return b.String()
}

func TestEveryTextComesBackUnchanged(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := range 2_000 {
		recorded := sample()
		it := &recorded.Interactions[n%2]
		it.Request.Body, it.Response.Body = randomText(rng), randomText(rng)
		it.Response.Headers["Retry-After"] = []string{randomText(rng), randomText(rng)}
		it.Response.Status, recorded.Header.Task = randomText(rng), "t"+randomText(rng)
		recorded.Header.Digests[randomText(rng)] = randomText(rng)
		it.Reads = nil
		if len(it.Response.Body) > 0 {
			it.Reads = []BodyRead{{len(it.Response.Body), 1}}
		}
		content, _, err := checksum.Check(Encode(recorded))
		require.NoError(t, err)
		slow, err := readYAML(content, true)
		require.NoError(t, err, "%s", content)
		requireSame(t, recorded, slow)
		fast, ok := DecodeContent(string(content))
		require.True(t, ok, "%s", content)
		requireSame(t, recorded, fast)
	}
}

func TestGoVCRReadsTheFile(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	name := filepath.Join(t.TempDir(), "c")
	for range 200 {
		recorded := sample()
		recorded.Interactions[0].Response.Body = randomText(rng)
		require.NoError(t, os.WriteFile(name+".yaml", Encode(recorded), 0o644))
		c, err := govcr.Load(name)
		require.NoError(t, err)
		require.Equal(t, 1, c.Version)
		require.Len(t, c.Interactions, 2)
		for i, got := range c.Interactions {
			want := recorded.Interactions[i]
			require.Equal(t, want.Request.Body, got.Request.Body)
			require.Equal(t, want.Request.URL, got.URL)
			require.Equal(t, want.Request.Method, got.Method)
			require.Equal(t, want.Request.Headers, got.Request.Headers)
			require.Equal(t, want.Response.Body, got.Response.Body)
			require.Equal(t, want.Response.Headers, got.Response.Headers)
			require.Equal(t, want.Response.Status, got.Status)
			require.Equal(t, want.Response.Code, got.Code)
			require.Equal(t, want.Response.Duration, got.Duration)
		}
	}
}

func TestTruncatedFilesAreRejected(t *testing.T) {
	data := Encode(sample())
	for _, allow := range []bool{false, true} {
		for n := range data {
			_, err := load1(data[:n], File{AllowUnsealed: allow})
			requireCorrupt(t, err, "cut to %d bytes", n)
		}
		_, err := load1(data, File{AllowUnsealed: allow})
		require.NoError(t, err)
	}
}

func TestFlippedBitsAreRejected(t *testing.T) {
	data := Encode(sample())
	for at := range data {
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << bit
			_, err := load1(flipped, File{})
			requireCorrupt(t, err, "byte %d bit %d", at, bit)
		}
	}
	for at := len(data) - checksum.Size; at < len(data); at++ { // every bit of the seal
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[at] ^= 1 << bit
			for _, allow := range []bool{false, true} {
				_, err := load1(flipped, File{AllowUnsealed: allow})
				requireCorrupt(t, err, "byte %d bit %d", at, bit)
			}
		}
	}
}

func requireCorrupt(t testing.TB, err error, format string, args ...any) {
	t.Helper()
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt, append([]any{format}, args...)...)
	require.Equal(t, "a/b.yaml", corrupt.Path)
	require.Contains(t, err.Error(), "a/b.yaml")
}

// sealed adds a seal to unchanged content.
func sealed(content string) []byte { return checksum.Append([]byte(content)) }

func TestOtherFilesAreRejected(t *testing.T) {
	whole := string(Encode(sample()))
	whole = whole[:len(whole)-checksum.Size]
	swap := func(old, new string) []byte {
		if strings.Count(whole, old) == 0 {
			panic(old)
		}
		return sealed(strings.Replace(whole, old, new, 1))
	}
	cases := map[string]struct {
		data []byte
		text string
	}{
		"empty":             {nil, "not sealed"},
		"unsealed":          {[]byte(whole), "not sealed: written by another tool, or cut; seal a file you trust with cupel cassette seal; or record it with: make it"},
		"edited":            {append([]byte(whole), "x: 1\nseal: sha256:00\n"...), "checksum mismatch"},
		"line endings":      {bytes.ReplaceAll(Encode(sample()), []byte("\n"), []byte("\r\n")), "line endings"},
		"no YAML":           {sealed("version: [\n"), "not YAML"},
		"no mapping":        {sealed("- a\n"), "not a cassette"},
		"no version":        {sealed("a: 1\n"), "no format version"},
		"unknown version":   {swap("version: 1", "version: 3"), "unknown format version 3"},
		"unknown format":    {swap("format: 1", "format: 2"), "unknown cupel format 2"},
		"two documents":     {sealed(whole + "---\na: 1\n"), "more than one YAML document"},
		"alias":             {sealed("a: &x [1]\nb: *x\nversion: 1\n"), "line 1: YAML anchors and aliases are refused"},
		"merge":             {sealed("version: 1\ninteractions:\n- &x {request: {}}\n- <<: *x\n"), "anchors and aliases"},
		"nothing recorded":  {sealed("version: 1\ninteractions: []\n"), "no interactions"},
		"frames too short":  {swap("[[5, 1000], [9, 0]]", "[[5, 1000]]"), "interaction 0: frames hold 5 bytes, the response body 14"},
		"frame of nothing":  {swap("[[5, 1000], [9, 0]]", "[[0, 0], [14, 0]]"), "frame [0, 0] is out of range"},
		"negative delay":    {swap("[[5, 1000], [9, 0]]", "[[14, -1]]"), "frame [14, -1] is out of range"},
		"triple":            {swap("[[5, 1000], [9, 0]]", "[[5, 1000, 1]]"), "not a cassette"},
		"no status":         {swap("code: 200", "code: 20"), "response code 20 is not an HTTP status"},
		"no number":         {swap("code: 200", "code: ok"), "not a cassette"},
		"negative duration": {swap("duration: 0s", "duration: -1s"), "negative time"},
		"no digest":         {swap(sample().Interactions[0].Digest, "12"), "no request digest"},
		"no method":         {swap(`method: "POST"`, `method: ""`), "no request method or url"},
		"key twice":         {swap("    code: 200\n", "    code: 200\n    code: 200\n"), "not a cassette"},
		"too many":          {sealed("version: 1\ninteractions:\n" + strings.Repeat("- {}\n", MaxInteractions+1)), "12001 interactions, at most 12000"},
		"too deep":          {sealed("a: " + strings.Repeat("[", 20_000) + "\n"), "not YAML"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := load1(c.data, File{Command: "make it"})
			requireCorrupt(t, err, name)
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "make it")
		})
	}
}

func TestMissingCassetteErrorHasTheCommand(t *testing.T) {
	_, err := Load(File{FS: fstest.MapFS{}, Path: "a/b.yaml", Command: "cupel run --mode record --task a"})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, "no cassette a/b.yaml; record it with: cupel run --mode record --task a")
	require.EqualError(t, &MissingError{Path: "a"}, "no cassette a")
}

func TestTooLargeFilesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "big.yaml"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(MaxBytes+1)) // a sparse file, which takes no disk space
	require.NoError(t, f.Close())
	_, err = Load(File{Dir: dir, Path: "big.yaml"})
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, "larger than 67108864 bytes", corrupt.Reason)
}

// FuzzLoad checks that no file makes the reader panic, and that the YAML reader agrees with the
// fast one about every file that the fast one reads.
func FuzzLoad(f *testing.F) {
	f.Add(string(Encode(sample())), true)
	f.Add(string(goVCR(f)), false)
	rng := rand.New(rand.NewSource(4))
	for range 20 {
		t := sample()
		t.Interactions[0].Request.Body = randomText(rng)
		f.Add(string(Encode(t)), true)
	}
	f.Fuzz(func(t *testing.T, text string, isSealed bool) {
		if isSealed && len(text) > checksum.Size {
			text = string(sealed(text[:len(text)-checksum.Size]))
		}
		_, _ = Decode([]byte(text), true)
		content, _, _ := checksum.Check([]byte(text))
		fast, ok := DecodeContent(string(content))
		if !ok {
			return
		}
		slow, err := readYAML(content, true)
		require.NoError(t, err)
		requireSame(t, fast, slow)
	})
}
