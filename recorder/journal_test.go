package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/internal/checksum"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// requireOffDisk checks that no file below dir contains any of these texts.
func requireOffDisk(t testing.TB, dir string, texts ...string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, text := range texts {
			if len(text) > 2 {
				require.NotContains(t, string(data), text, path)
			}
		}
		return err
	}))
}

// journaled records n exchanges with bodies of random bytes, and returns the recorder and the
// size of the journal after each.
func journaled(t testing.TB, n int, seed int64) (*Recorder, []int) {
	t.Helper()
	rng := rand.New(rand.NewSource(seed))
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
		return says(randomBytes(rng)+"x", randomBytes(rng)+"y")(nil)
	}))
	r.o.Header = sampled().Header
	ends := []int{0}
	for range n {
		ask(t, r, post(t, "https://api.test/", randomBytes(rng)))
		info, err := os.Stat(journalFile(r.o))
		require.NoError(t, err)
		ends = append(ends, int(info.Size()))
	}
	return r, ends
}

// randomBytes returns up to 40 bytes.
func randomBytes(rng *rand.Rand) string {
	b := make([]byte, rng.Intn(40))
	rng.Read(b)
	return string(b)
}

// readExchanges returns the intact exchanges of a journal and the number of its damaged places.
func readExchanges(data []byte) (*cassette.Data, int) {
	c, t := readJournal(data), &cassette.Data{}
	for _, rec := range c.exchanges(false) {
		t.Header = rec.one.Header
		t.Interactions = append(t.Interactions, rec.one.Interactions[0])
	}
	return t, c.torn
}

// readRecovered reads a recovered cassette as a replay would.
func readRecovered(t testing.TB, r Recovered) *cassette.Data {
	t.Helper()
	require.NotNil(t, r.Cassette)
	tp, err := cassette.Decode(r.Cassette, false)
	require.NoError(t, err)
	require.Len(t, tp.Interactions, r.Exchanges)
	return tp
}

func TestExchangesAreJournaledUntilSaved(t *testing.T) {
	r := newRecording(t, says("one", "two"))
	folder := filepath.Dir(cassetteFile(r))
	resp, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
	require.NoError(t, err)
	require.NoFileExists(t, journalFile(r.o), "the exchange is not finished")
	readAll(t, resp.Body)
	requireOnly(t, folder, "1.yaml.journal")
	info, err := os.Stat(journalFile(r.o))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, resp.Body.Close())
	again, err := os.Stat(journalFile(r.o))
	require.NoError(t, err)
	require.Equal(t, info.Size(), again.Size(), "one record an exchange")

	got, err := Recover(journalFile(r.o))
	require.NoError(t, err)
	require.NoError(t, r.Save())
	requireOnly(t, folder, "1.yaml")
	whole, err := os.ReadFile(cassetteFile(r))
	require.NoError(t, err)
	require.Equal(t, Recovered{Cassette: whole, Exchanges: 1}, got, "the bytes that Save writes")

	ask(t, r, post(t, "https://api.test/", "{}"))
	requireOnly(t, folder, "1.yaml", "1.yaml.journal")
	require.NoError(t, r.Save())
	requireOnly(t, folder, "1.yaml")
	_, err = Recover(journalFile(r.o))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Overlapping exchanges finish in another order than they start.
func TestRecoveredExchangesAreInTheOrderTheyWereStarted(t *testing.T) {
	n := 0
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
		n++
		return says(fmt.Sprint("answer ", n))(nil)
	}))
	var bodies []*http.Response
	for range 4 {
		resp, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
		require.NoError(t, err)
		bodies = append(bodies, resp)
	}
	for _, i := range []int{2, 0, 3} { // the second one never ends
		readAll(t, bodies[i].Body)
	}
	require.ErrorContains(t, r.Save(), "interaction 1 (POST https://api.test/) is not finished")
	got, err := Recover(journalFile(r.o))
	require.NoError(t, err)
	require.Zero(t, got.Torn)
	var said []string
	for _, it := range readRecovered(t, got).Interactions {
		said = append(said, it.Response.Body)
	}
	require.Equal(t, []string{"answer 1", "answer 3", "answer 4"}, said)
}

func TestJournalOmitsWhatSaveRefuses(t *testing.T) {
	t.Run("a credential", func(t *testing.T) {
		r := newRecording(t, says("fine", canary))
		r.o.Secrets = secrets.New(canary)
		ask(t, r, post(t, "https://api.test/", "{}"))
		r.o.Base = says("harmless")
		ask(t, r, post(t, "https://api.test/", "{}"))
		var secret *cassette.SecretError
		require.ErrorAs(t, r.Save(), &secret)
		requireOffDisk(t, r.o.Dir, canary[:8], "fine")
		got, err := Recover(journalFile(r.o))
		require.NoError(t, err)
		require.Equal(t, "harmless", readRecovered(t, got).Interactions[0].Response.Body, "the others are kept")
	})
	t.Run("a credential that becomes known later", func(t *testing.T) {
		r := newRecording(t, says("fine", canary))
		ask(t, r, post(t, "https://api.test/", "{}"))
		r.o.Base = says("harmless")
		ask(t, r, post(t, "https://api.test/", "{}"))
		r.o.Secrets = secrets.New(canary)
		var secret *cassette.SecretError
		require.ErrorAs(t, r.Save(), &secret)
		requireOffDisk(t, r.o.Dir, canary[:8], "fine")
		requireOnly(t, filepath.Dir(cassetteFile(r)), "1.yaml.journal")
		got, err := Recover(journalFile(r.o))
		require.NoError(t, err)
		require.Equal(t, "harmless", readRecovered(t, got).Interactions[0].Response.Body)
	})
	t.Run("a credential in an address, known later", func(t *testing.T) {
		r := newRecording(t, says("fine"))
		ask(t, r, post(t, "https://api.test/plain-"+"0123456789abcdef", "{}"))
		r.o.Secrets = secrets.New("0123456789abcdef")
		require.Equal(t, &cassette.SecretError{Path: "t/1.yaml", Interaction: 0, Field: "request.url", Kind: "a configured secret"}, r.Save())
		require.NoFileExists(t, journalFile(r.o))
	})
	t.Run("the header", func(t *testing.T) {
		r := newRecording(t, says("ok"))
		r.o.Secrets, r.o.Header.Model = secrets.New(canary), canary
		ask(t, r, post(t, "https://api.test/", "{}"))
		require.NoFileExists(t, journalFile(r.o))
	})
	t.Run("what a replay would refuse", func(t *testing.T) {
		r := newRecording(t, answer(func(*http.Request) (*http.Response, error) {
			return &http.Response{Header: http.Header{}, Body: http.NoBody}, nil // no status
		}))
		ask(t, r, post(t, "https://api.test/", "{}"))
		require.NoFileExists(t, journalFile(r.o))
	})
}

func TestTransportFailuresAreJournaled(t *testing.T) {
	r := newRecording(t, answer(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") }))
	_, err := r.RoundTrip(post(t, "https://api.test/", "{}"))
	require.Error(t, err)
	got, err := Recover(journalFile(r.o))
	require.NoError(t, err)
	require.Equal(t, "connection reset", readRecovered(t, got).Interactions[0].Failure)
}

func TestAbandonedJournalIsRenamed(t *testing.T) {
	dir := t.TempDir()
	begin := func(text string) *Recorder {
		r, err := New(Options{Mode: Record, Dir: dir, Path: "t/1.yaml", Base: says(text)})
		require.NoError(t, err)
		return r
	}
	said := func(file string) string {
		got, err := Recover(file)
		require.NoError(t, err)
		return readRecovered(t, got).Interactions[0].Response.Body
	}
	first := begin("first")
	ask(t, first, post(t, "https://api.test/", "{}"))

	second := begin("second")
	require.Equal(t, "first", said(journalFile(second.o)), "beginning alone changes nothing")
	ask(t, second, post(t, "https://api.test/", "{}"))
	require.Equal(t, "second", said(journalFile(second.o)))
	require.Equal(t, "first", said(journalFile(second.o)+".old"))
	require.NoError(t, second.Save())
	requireOnly(t, filepath.Join(dir, "t"), "1.yaml")
}

// A kill can leave any prefix of the journal. Recovery returns the complete exchanges and no
// part of another.
func TestRecoverTruncatedJournal(t *testing.T) {
	r, ends := journaled(t, 8, 1)
	whole, err := os.ReadFile(journalFile(r.o))
	require.NoError(t, err)
	all, torn := readExchanges(whole)
	require.Zero(t, torn)
	require.Len(t, all.Interactions, 8)
	rng := rand.New(rand.NewSource(2))
	file := filepath.Join(t.TempDir(), "cut.journal")
	for n := range 1000 {
		at := rng.Intn(len(whole) + 1)
		if n < len(ends) {
			at = ends[n] // between two records
		}
		require.NoError(t, os.WriteFile(file, whole[:at], 0o600))
		complete := 0
		for complete+1 < len(ends) && ends[complete+1] <= at {
			complete++
		}
		got, err := Recover(file)
		require.NoError(t, err, "cut at %d", at)
		require.Equal(t, complete, got.Exchanges, "cut at %d", at)
		require.Equal(t, at > ends[complete], got.Torn == 1, "cut at %d", at)
		if complete == 0 {
			require.Nil(t, got.Cassette)
			continue
		}
		require.Equal(t, string(cassette.Encode(&cassette.Data{Header: all.Header, Interactions: all.Interactions[:complete]})), string(cassette.Encode(readRecovered(t, got))))
	}
}

// Recovery omits a damaged record, and only that one.
func TestRecoverDetectsEveryFlippedBit(t *testing.T) {
	r, ends := journaled(t, 5, 3)
	whole, err := os.ReadFile(journalFile(r.o))
	require.NoError(t, err)
	all, _ := readExchanges(whole)
	rng := rand.New(rand.NewSource(4))
	for range 1000 {
		at, bit := rng.Intn(len(whole)), rng.Intn(8)
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << bit
		got, torn := readExchanges(flipped)
		require.Positive(t, torn, "byte %d bit %d", at, bit)
		want := &cassette.Data{Header: all.Header}
		for i, it := range all.Interactions {
			if at < ends[i] || at >= ends[i+1] {
				want.Interactions = append(want.Interactions, it)
			}
		}
		require.Equal(t, string(cassette.Encode(want)), string(cassette.Encode(got)))
	}
}

func TestJournalIsNotACassette(t *testing.T) {
	r, ends := journaled(t, 2, 5)
	whole, err := os.ReadFile(journalFile(r.o))
	require.NoError(t, err)
	for _, allow := range []bool{false, true} {
		for n := range whole {
			if n > 200 && n%7 != 0 && n != ends[1] {
				continue
			}
			_, err := opened(whole[:n], Options{AllowUnsealed: allow})
			require.ErrorAs(t, err, new(*cassette.CorruptError), "%d bytes of a journal", n)
		}
	}
}

func TestRecoverRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "1.yaml.journal")
	_, err := Recover(file)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, file)

	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, 2*cassette.MaxBytes+1)) // a sparse file, which takes no disk space
	_, err = Recover(file)
	require.ErrorContains(t, err, "larger than 134217728 bytes")

	require.NoError(t, os.WriteFile(file, cassette.Encode(sampled()), 0o600))
	got, err := Recover(file)
	require.NoError(t, err)
	require.Equal(t, Recovered{Torn: 1}, got, "a cassette is no journal")

	hostile := strings.Repeat("exchange 1 100\n", 100_000)
	require.NoError(t, os.WriteFile(file, []byte(hostile), 0o600))
	got, err = Recover(file)
	require.NoError(t, err)
	require.Equal(t, Recovered{Torn: maxTorn}, got)

	leak := sampled()
	leak.Interactions = leak.Interactions[1:]
	leak.Interactions[0].Request.Body = "sk-" + strings.Repeat("a1b2", 8)
	require.NoError(t, os.WriteFile(file, record(0, "", cassette.Encode(leak)), 0o600))
	_, err = Recover(file)
	var secret *cassette.SecretError
	require.ErrorAs(t, err, &secret, "a journal written by something else")
}

// After each step of Save, a kill leaves the complete old or new cassette and loses no
// exchange of the recording.
func TestKillDuringSave(t *testing.T) {
	r, _ := journaled(t, 3, 6)
	file := cassetteFile(r)
	old := cassette.Encode(sampled())
	require.NoError(t, os.WriteFile(file, old, 0o644))
	left, err := Recover(journalFile(r.o))
	require.NoError(t, err)
	require.Equal(t, 3, left.Exchanges)
	check := func(step string, cassette []byte) {
		t.Helper()
		now, err := os.ReadFile(file)
		require.NoError(t, err, step)
		require.Equal(t, cassette, now, step)
		got, err := Recover(journalFile(r.o))
		require.NoError(t, err, step)
		require.Equal(t, left, got, step)
	}
	temp := filepath.Join(filepath.Dir(file), ".1.yaml.ABCDEFGHIJ.tmp")
	rng := rand.New(rand.NewSource(7))
	for range 50 {
		at := rng.Intn(len(left.Cassette))
		require.NoError(t, os.WriteFile(temp, left.Cassette[:at], 0o600))
		check(fmt.Sprintf("temporary file cut at %d", at), old)
	}
	require.NoError(t, os.WriteFile(temp, left.Cassette, 0o600))
	check("temporary file written", old)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, left.Cassette, 0o666))
	check("cassette replaced", left.Cassette)
	require.NoError(t, r.Save())
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, left.Cassette, now)
	unlock, err := cassette.Lock(filepath.Dir(file))
	require.NoError(t, err)
	unlock()
	requireOnly(t, filepath.Dir(file), "1.yaml")
}

// recordForever is the child process of TestKillAtAnyMoment. It records and saves until it is
// killed, and prints every finished exchange.
func recordForever(dir string) error {
	n := 0
	base := answer(func(*http.Request) (*http.Response, error) { return says(strings.Repeat(fmt.Sprint(n), 500))(nil) })
	for round := 0; ; round++ {
		r, err := New(Options{Mode: Record, Dir: dir, Path: "1.yaml", Base: base})
		if err != nil {
			return err
		}
		for n = range 3 {
			req, err := http.NewRequest(http.MethodPost, fmt.Sprintf("https://api.test/%d/%d", round, n), nil)
			if err != nil {
				return err
			}
			resp, err := r.RoundTrip(req)
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				return err
			}
			fmt.Println(round, n)
		}
		if err := r.Save(); err != nil {
			return err
		}
	}
}

// TestKillAtAnyMoment kills a recording process with a signal it cannot catch.
func TestKillAtAnyMoment(t *testing.T) {
	if dir := os.Getenv("RECORDER_TEST_FOREVER"); dir != "" {
		t.Fatal(recordForever(dir))
	}
	rng := rand.New(rand.NewSource(8))
	for range 20 {
		dir := t.TempDir()
		var out bytes.Buffer
		child := exec.Command(os.Args[0], "-test.run=^TestKillAtAnyMoment$")
		child.Env = append(os.Environ(), "RECORDER_TEST_FOREVER="+dir)
		child.Stdout = &out
		require.NoError(t, child.Start())
		require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "1.yaml")); return err == nil }, 10*time.Second, time.Millisecond)
		time.Sleep(time.Duration(rng.Intn(5000)) * time.Microsecond)
		require.NoError(t, child.Process.Kill())
		require.Error(t, child.Wait())

		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		var round, n int
		_, err := fmt.Sscan(lines[len(lines)-1], &round, &n)
		require.NoError(t, err)
		saved, err := New(Options{Dir: dir, Path: "1.yaml"})
		require.NoError(t, err, "the cassette is whole")
		require.Equal(t, 3, saved.Leftover())
		found := map[string]bool{}
		for _, it := range saved.index.data.Interactions {
			found[it.Request.URL] = true
		}
		for _, suffix := range []string{journalSuffix, journalSuffix + oldSuffix} {
			left, err := Recover(filepath.Join(dir, "1.yaml"+suffix))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			require.NoError(t, err)
			require.LessOrEqual(t, left.Torn, 1)
			if left.Exchanges > 0 {
				for _, it := range readRecovered(t, left).Interactions {
					found[it.Request.URL] = true
				}
			}
		}
		for i := range n + 1 {
			require.True(t, found[fmt.Sprintf("https://api.test/%d/%d", round, i)], "round %d exchange %d of %s: found %v", round, i, lines[len(lines)-1], found)
		}
	}
}

// FuzzReadJournal checks that no file makes the reader panic and that recovered exchanges can
// be replayed.
func FuzzReadJournal(f *testing.F) {
	one := sampled()
	one.Interactions = one.Interactions[:1]
	whole := append(record(1, "", cassette.Encode(one)), record(0, "a-run", cassette.Encode(one))...)
	f.Add(whole, false)
	f.Add(whole[:len(whole)-7], false)
	f.Add(bytes.Replace(whole, []byte("exchange 1"), []byte("exchange -1"), 1), true)
	f.Add([]byte("exchange 0 99999999999999999999\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, resealed bool) {
		if resealed && len(data) > checksum.Size {
			data = checksum.Append(data[:len(data)-checksum.Size])
		}
		got, torn := readExchanges(data)
		require.LessOrEqual(t, torn, maxTorn)
		for i := range got.Interactions {
			require.NoError(t, got.Interactions[i].Check())
		}
	})
}

// journalFile is the path of the journal of o's cassette.
func journalFile(o Options) string {
	return o.file().OnDisk() + journalSuffix
}
