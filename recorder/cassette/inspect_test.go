package cassette

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/internal/canonical"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

const canaryKey = "sk-proj-Zx81bGq0aWv7Rt5Yu3Io2Pk9Lm4Nb6Vc"

// inspected writes and reads a cassette.
func inspected(t *testing.T, tp *Data) *Contents {
	t.Helper()
	c, err := Inspect(File{FS: fstest.MapFS{"a/b.yaml": &fstest.MapFile{Data: Encode(tp)}}, Path: "a/b.yaml"})
	require.NoError(t, err)
	return c
}

func TestInspect(t *testing.T) {
	data := Encode(sample())
	c := inspected(t, sample())
	require.Equal(t, "a/b.yaml", c.Path)
	require.Equal(t, sample().Header, c.Header)
	require.Equal(t, 2, c.Interactions)
	require.Equal(t, len(data), c.Bytes)
	loaded, err := load1(data, File{})
	require.NoError(t, err)
	require.Equal(t, loaded.Digest, c.Digest)

	files := fstest.MapFS{"cut.yaml": {Data: data[:len(data)-1]}, "vcr.yaml": {Data: goVCR(t)}}
	_, err = Inspect(File{FS: files, Path: "none.yaml", Command: "do it"})
	require.Equal(t, &MissingError{"none.yaml", "do it"}, err)
	_, err = Inspect(File{FS: files, Path: "cut.yaml"})
	require.Equal(t, &CorruptError{"cut.yaml", checksum.ErrBroken.Error()}, err)
	_, err = Inspect(File{FS: files, Path: "vcr.yaml"})
	require.ErrorContains(t, err, "cassette vcr.yaml: not sealed")
	c, err = Inspect(File{FS: files, Path: "vcr.yaml", AllowUnsealed: true})
	require.NoError(t, err)
	require.Zero(t, c.Header)
}

func TestDiffOfCassettes(t *testing.T) {
	require.Empty(t, inspected(t, sample()).Diff(inspected(t, sample())))
	cases := []struct {
		name   string
		change func(*Data)
		want   []Difference
	}{
		{"header", func(tp *Data) {
			tp.Header.Model, tp.Header.Trial, tp.Header.Simulated = "gpt-6", 3, false
			tp.Header.Digests = map[string]string{"prompt": "cd34", "task": "1"}
		}, []Difference{{"header", []string{
			`model: "gpt-5.1-mini" → "gpt-6"`, "trial: 2 → 3", "simulated: true → false",
			"digests.prompt: changed", "digests.task: added", "digests.tools: removed",
		}}}},
		{"request", func(tp *Data) {
			it := &tp.Interactions[1]
			it.Request.Body = strings.Replace(it.Request.Body, "hi", "ho", 1)
		}, []Difference{{"interaction 1 request", []string{`messages[0].content: "hi" → "ho"`}}}},
		{"reply", func(tp *Data) {
			it := &tp.Interactions[1]
			it.Response.Body = strings.Replace(it.Response.Body, "é", "ü", 1)
			it.Response.Code = 429
		}, []Difference{{"interaction 1 reply", []string{`status: 200 → 429`, `events[1].b: "é" → "ü"`}}}},
		{"failure", func(tp *Data) { tp.Interactions[0].Failure = "gone" }, []Difference{
			{"interaction 0 reply", []string{"failed: line 1 changed, 2 → 1 lines (\"read tcp: \\\"reset\\\" ä\" → \"gone\")"}},
		}},
		{"times and headers", func(tp *Data) {
			tp.Interactions[0].Response.Duration = 1e9
			tp.Interactions[0].Response.Headers.Set("X-Request-Id", "other")
		}, nil},
		{"fewer", func(tp *Data) { tp.Interactions = tp.Interactions[:1] }, []Difference{
			{"interaction 1", []string{`removed; it was "POST https://api.test/v1/chat?x=1": 57 bytes, status 200`}},
		}},
		{"more", func(tp *Data) { tp.Interactions = append(tp.Interactions, tp.Interactions[0]) }, []Difference{
			{"interaction 2", []string{`added "POST https://api.test/v1/chat?x=1": 57 bytes, status 200`}},
		}},
		{"a credential", func(tp *Data) {
			tp.Interactions[0].Response.Body = `{"k":"` + canaryKey[:7] + `","l":"` + canaryKey + `"}`
		}, []Difference{
			{"interaction 0 reply", []string{"choices: removed; it was []", `k: added "sk-proj"`, "l: added (withheld: it holds what looks like " + (*secrets.Finder)(nil).Find(canaryKey) + ")"}},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			changed := sample()
			c.change(changed)
			for i := range changed.Interactions { // keep the file consistent
				it := &changed.Interactions[i]
				it.Digest = canonical.Digest(it.Request.Method, it.Request.URL, it.Request.Body)
				if readBytes(it.Reads) != len(it.Response.Body) {
					it.Reads = []BodyRead{{len(it.Response.Body), 1}}
				}
			}
			require.Equal(t, c.want, inspected(t, sample()).Diff(inspected(t, changed)))
		})
	}
}

func TestFindSecrets(t *testing.T) {
	const key = "canary-0123456789"
	find := func(t *testing.T, data []byte) ([]*SecretError, error) {
		t.Helper()
		found, err := FindSecrets(File{FS: fstest.MapFS{"b.yaml": &fstest.MapFile{Data: data}}, Path: "b.yaml", Secrets: secrets.New(key)})
		for _, s := range found {
			require.NotContains(t, s.Error(), key)
		}
		return found, err
	}
	cases := []struct {
		name   string
		change func(*Data)
		want   []*SecretError
	}{
		{"nothing", func(*Data) {}, nil},
		{"header", func(tp *Data) { tp.Header.Model = key }, []*SecretError{{"b.yaml", -1, "model", "a configured secret"}}},
		{"every exchange", func(tp *Data) {
			for i := range tp.Interactions {
				tp.Interactions[i].Request.Body = `{"a":"` + key + `"}`
			}
		}, []*SecretError{{"b.yaml", 0, "request.body", "a configured secret"}, {"b.yaml", 1, "request.body", "a configured secret"}}},
		{"a response header", func(tp *Data) { tp.Interactions[1].Response.Headers.Set("Retry-After", key) }, []*SecretError{
			{"b.yaml", 1, "response.headers.Retry-After", "a configured secret"},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tp := sample()
			c.change(tp)
			found, err := find(t, Encode(tp))
			require.NoError(t, err)
			require.Equal(t, c.want, found)
		})
	}
	t.Run("a comment", func(t *testing.T) {
		content := Encode(sample())
		content = append([]byte("# "+key+"\n"), content[:len(content)-checksum.Size]...)
		found, err := find(t, checksum.Append(content))
		require.NoError(t, err)
		require.Equal(t, []*SecretError{{"b.yaml", -1, "the file's text", "a configured secret"}}, found)
	})
	t.Run("no cassette", func(t *testing.T) {
		found, err := find(t, []byte("::: "+key))
		require.ErrorAs(t, err, new(*CorruptError))
		require.Equal(t, []*SecretError{{"b.yaml", -1, "the file's text", "a configured secret"}}, found)
		found, err = find(t, []byte(":::"))
		require.ErrorAs(t, err, new(*CorruptError))
		require.Empty(t, found)
	})
	_, err := FindSecrets(File{FS: fstest.MapFS{}, Path: "b.yaml"})
	require.Equal(t, &MissingError{Path: "b.yaml"}, err)
}

func TestSealFile(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) { require.NoError(t, os.WriteFile(filepath.Join(dir, "b.yaml"), []byte(text), 0o600)) }
	read := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "b.yaml"))
		require.NoError(t, err)
		return string(text)
	}
	o := File{Dir: dir, Path: "b.yaml", Secrets: secrets.New("canary-0123456789")}
	whole := string(Encode(sample()))
	write(whole)
	changed, err := SealFile(o)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, whole, read())

	edited := strings.Replace(whole, `"content":"hi"`, `"content":"ho"`, 1)
	write(edited)
	changed, err = SealFile(o)
	require.NoError(t, err)
	require.True(t, changed)
	c, err := Inspect(o)
	require.NoError(t, err)
	require.Equal(t, []Difference{{"interaction 0 request", []string{`messages[0].content: "hi" → "ho"`}}}, inspected(t, sample()).Diff(c))
	it := c.data.Interactions[0]
	require.Equal(t, canonical.Digest(it.Request.Method, it.Request.URL, it.Request.Body), it.Digest)
	again := read()
	changed, err = SealFile(o)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, again, read())

	for name, text := range map[string]string{
		"a credential": strings.Replace(whole, `"content":"hi"`, `"content":"canary-0123456789"`, 1),
		"cut":          whole[:len(whole)-checksum.Size],
		"none":         "hello\n",
	} {
		write(text)
		_, err := SealFile(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "canary")
		require.Equal(t, text, read(), "%s: the file stays", name)
	}
	names, err := fs.Glob(os.DirFS(dir), "*")
	require.NoError(t, err)
	require.Equal(t, []string{"b.yaml"}, names)
	_, err = SealFile(File{Dir: dir, Path: "none.yaml"})
	require.Equal(t, &MissingError{Path: "none.yaml"}, err)
}
