package admission

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func openLog(t testing.TB, path string) *SpendLog {
	t.Helper()
	l, err := OpenSpendLog(path)
	require.NoError(t, err)
	return l
}

// writeLog makes a log of a run that was killed with one request in flight, with a sync
// before the last two records. It returns the content.
func writeLog(t testing.TB) (path string, content []byte) {
	path = filepath.Join(t.TempDir(), "spend.log")
	log := openLog(t, path)
	c := New(Options{Log: log})
	p, q := c.Lane("p", "k"), c.Lane("q \"\n☃", "k")
	a := acquire(t, p, Request{Input: 10, Output: 20, CostNanoUSD: 300})
	b := acquire(t, q, Request{Input: 1, Output: 2, CostNanoUSD: 3})
	a.Done(Result{Usage: providers.Usage{Reported: true, Input: 7}, CostNanoUSD: cost(70)})
	require.NoError(t, log.Sync())
	acquire(t, p, Request{ID: "a-1", Input: 1000, CostNanoUSD: 1000})
	b.Done(failure(fault.RateLimit))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, log.file.Close())
	return path, content
}

func TestSpendLogGoesOn(t *testing.T) {
	path, content := writeLog(t)
	require.Equal(t, `m 0000000000000000161|r 1 300 30 1 "p" ""|r 2 3 3 1 "q \"\n\u2603" ""|s 1 70 7 1|r 3 1000 1000 1 "p" "a-1"|s 2 0 0 1`, payloads(content))
	want := map[string]Spend{"p": {1070, 1007, 2}, "q \"\n☃": {0, 0, 1}}
	for range 2 { // an open reservation stays open
		log := openLog(t, path)
		require.Equal(t, want, log.Spent())
		c := New(Options{Log: log, Caps: Caps{CostNanoUSD: 1100}, Providers: map[string]Limits{"p": {Caps: Caps{Requests: 2}}}})
		require.Equal(t, State{Spent: Spend{1070, 1007, 3}}, c.Snapshot().State)
		require.NoError(t, c.Capped("p"))
		_, err := c.Lane("p", "k").Acquire(t.Context(), Request{})
		require.ErrorContains(t, err, "requests of provider p: 2 of 2 spent")
		_, err = c.Lane("r", "k").Acquire(t.Context(), Request{CostNanoUSD: 31})
		require.ErrorIs(t, err, ErrCapped)
		require.NoError(t, log.Close())
	}
	log := openLog(t, path)
	lowered := New(Options{Log: log, Caps: Caps{Tokens: 1000}, Providers: map[string]Limits{"p": {Caps: Caps{CostNanoUSD: 1000}}}})
	require.ErrorContains(t, lowered.Capped("r"), "tokens of the run: 1007 of 1000 spent: raise the cap")
	require.ErrorContains(t, lowered.budget("p").capped, "cost of provider p: 0.00000107 USD of 0.000001 USD spent")
	acquire(t, New(Options{Log: log}).Lane("p", "k"), Request{Input: 5}).Done(Result{})
	require.Equal(t, Spend{1070, 1012, 3}, log.Spent()["p"])
	require.NoError(t, log.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(payloads(content), `|r 4 0 5 1 "p" ""|s 4 0 5 1`))
}

func payloads(content []byte) string {
	var list []string
	for line := range strings.Lines(string(content)) {
		list = append(list, strings.TrimSuffix(strings.SplitN(line, " ", 4)[3], "\n"))
	}
	return strings.Join(list, "|")
}

// synced returns how many bytes of a log are marked as on disk, which its first line says. The
// last line may be in the making.
func synced(t testing.TB, content []byte) int {
	var size int
	first, _, _ := bytes.Cut(content, []byte("\n"))
	_, err := fmt.Sscanf(payloads(first), "m %d", &size)
	require.NoError(t, err)
	return size
}

// A run that is killed between any two bytes resumes with at least what it spent,
// according to the complete records before the cut. A log that lost bytes that were on
// disk is refused, and so is every cut of a closed log.
func TestSpendLogCutAtEveryByte(t *testing.T) {
	path, content := writeLog(t)
	spent := []map[string]Spend{ // by the number of records
		3: {"p": {300, 30, 1}, "q \"\n☃": {3, 3, 1}},
		4: {"p": {70, 7, 1}, "q \"\n☃": {3, 3, 1}},
		5: {"p": {1070, 1007, 2}, "q \"\n☃": {3, 3, 1}},
		6: {"p": {1070, 1007, 2}, "q \"\n☃": {0, 0, 1}},
	}
	require.Less(t, synced(t, content), len(content))
	for cut := range len(content) + 1 {
		for _, tail := range []string{"", strings.Repeat("\x00", 10_000), "\x00\x00\n"} {
			text := append(content[:cut:cut], tail...)
			require.NoError(t, os.WriteFile(path, text, 0o666))
			if cut < synced(t, content) {
				requireRefused(t, path, text)
				continue
			}
			log := openLog(t, path)
			whole := bytes.Count(content[:cut], []byte("\n"))
			require.Equal(t, spent[whole], log.Spent(), "cut at %d", cut)
			number, err := log.reserve("p", "", Spend{1, 1, 1}) // new records must not join a torn tail
			require.NoError(t, err)
			log.settle(number, Spend{2, 2, 1})
			require.NoError(t, log.Close())
			closed, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Len(t, closed, int(log.size), "nothing is left of the tail")
			again := openLog(t, path)
			want := spent[whole]["p"]
			require.Equal(t, want.Plus(Spend{2, 2, 1}), again.Spent()["p"])
			require.NoError(t, again.Close())
			if cut == len(content) && tail == "" {
				for cut := range closed {
					require.NoError(t, os.WriteFile(path, closed[:cut], 0o666))
					requireRefused(t, path, closed[:cut])
				}
			}
		}
	}
}

// requireRefused checks that a log is refused, that the error names it, and that it is
// not changed.
func requireRefused(t *testing.T, path string, content []byte) {
	t.Helper()
	_, err := OpenSpendLog(path)
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "damaged at offset")
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, content, left, "a refused log is not changed")
}

func TestSpendLogRefusesDamage(t *testing.T) {
	path, content := writeLog(t)
	for i := range content {
		for bit := range 8 {
			broken := bytes.Clone(content)
			broken[i] ^= 1 << bit
			require.NoError(t, os.WriteFile(path, broken, 0o666))
			requireRefused(t, path, broken)
		}
	}
	frame := func(payload string) string { return string(appendFrame(nil, []byte(payload))) }
	first := string(mark(0))
	require.NoError(t, os.WriteFile(path, []byte(frame(`r 1 0 0 1 "p" ""`)), 0o666))
	_, err := OpenSpendLog(path)
	require.ErrorContains(t, err, "is not the first record")
	for name, test := range map[string]struct{ text, want string }{
		"settled twice":        {frame(`r 1 0 0 1 "p" ""`) + frame("s 1 0 0 1") + frame("s 1 0 0 1"), "does not follow"},
		"settled unreserved":   {frame("s 1 0 0 1"), "does not follow"},
		"reserved twice":       {frame(`r 1 0 0 1 "p" ""`) + frame(`r 1 0 0 1 "p" ""`), "does not follow"},
		"negative":             {frame(`r 1 -1 0 1 "p" ""`), "negative"},
		"not as it is written": {frame(`r 1 0 0 01 "p" ""`), "does not follow"},
		"more behind":          {frame(`r 1 0 0 1 "p" "" x`), "does not follow"},
		"without a request":    {frame(`r 1 0 0 1 "p"`), "does not follow"},
		"nothing":              {frame(""), "does not follow"},
		"another version":      {strings.Replace(frame(`r 1 0 0 1 "p" ""`), "2 ", "3 ", 1), `version "3"`},
		"marked twice":         {first, "does not follow"},
		"a record is missing":  {strings.ReplaceAll(frame(`r 1 0 0 1 "p" ""`)+frame("s 1 0 0 1"), frame(`r 1 0 0 1 "p" ""`), ""), "does not follow"},
		"a long line":          {strings.Repeat("x", 9000) + "\n" + frame(`r 1 0 0 1 "p" ""`), "more than 4096 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte(first+test.text), 0o666))
			_, err := OpenSpendLog(path)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, path)
		})
	}
}

// If a reservation cannot be written, the request is not sent. If a settlement cannot
// be written, the reservation stays open in the file.
func TestSpendLogThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spend.log")
	log := openLog(t, path)
	c := New(Options{Log: log})
	l := c.Lane("p", "k")
	held := acquire(t, l, Request{Input: 50})
	require.NoError(t, log.file.Close())
	_, err := l.Acquire(t.Context(), Request{Input: 1})
	require.ErrorIs(t, err, os.ErrClosed)
	require.ErrorContains(t, err, "write spend log "+path)
	require.Equal(t, State{Reserved: Spend{0, 50, 1}, InFlight: 1}, c.Snapshot().State)
	held.Done(Result{Usage: providers.Usage{Reported: true, Input: 1}})
	require.Equal(t, Spend{0, 50, 1}, log.Spent()["p"])
	require.ErrorIs(t, log.Close(), os.ErrClosed)
	again := openLog(t, path)
	require.Equal(t, Spend{0, 50, 1}, again.Spent()["p"])
	require.NoError(t, again.Close())

	_, err = OpenSpendLog(t.TempDir())
	require.ErrorContains(t, err, "open spend log")
	long := openLog(t, filepath.Join(t.TempDir(), "spend.log"))
	_, err = New(Options{Log: long}).Lane(strings.Repeat("p", 257), "k").Acquire(t.Context(), Request{})
	require.ErrorContains(t, err, "more than 256 bytes")
	require.NoError(t, long.Close())
}

func FuzzSpendLog(f *testing.F) {
	_, content := writeLog(f)
	f.Add(content)
	f.Add(append(content[:len(content)/2:len(content)/2], content...))
	f.Add(appendFrame(nil, []byte(`r 9223372036854775807 9223372036854775807 1 1 "p" ""`)))
	f.Fuzz(func(t *testing.T, content []byte) {
		log := readLog(content)
		if log == nil {
			return
		}
		spent := log.Spent()
		for _, s := range spent {
			require.GreaterOrEqual(t, min(s.CostNanoUSD, s.Tokens, s.Requests), int64(0))
		}
		again := readLog(content[:log.size]) // opening removes only a torn tail
		require.NotNil(t, again)
		require.Equal(t, log.size, again.size)
		require.Equal(t, spent, again.Spent())
	})
}

// TestSpendLogIsSyncedTogether checks that concurrent waiters share a sync, and that
// the first line has the synced size.
func TestSpendLogIsSyncedTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spend.log")
	log := openLog(t, path)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				number, err := log.reserve("p", "", Spend{3, 2, 1})
				require.NoError(t, err)
				log.settle(number, Spend{2, 1, 1})
				size := log.written()
				require.NoError(t, log.Sync())
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				require.GreaterOrEqual(t, int64(synced(t, content)), size)
				require.LessOrEqual(t, synced(t, content), len(content))
			}
		})
	}
	wg.Wait()
	require.NoError(t, log.Close())
	require.Equal(t, Spend{320, 160, 160}, openLog(t, path).Spent()["p"])
}

// TestSpendLogIsRaised checks that a higher spending from another source replaces the
// log's, for each measure, and is kept.
func TestSpendLogIsRaised(t *testing.T) {
	path, _ := writeLog(t)
	for range 2 {
		log := openLog(t, path)
		require.NoError(t, log.AtLeast("p", Spend{1000, 2000, 2}))
		require.NoError(t, log.AtLeast("new", Spend{1, 0, 0}))
		require.NoError(t, log.AtLeast("q \"\n☃", Spend{}))
		require.Equal(t, map[string]Spend{"p": {1070, 2000, 2}, "q \"\n☃": {0, 0, 1}, "new": {1, 0, 0}}, log.Spent())
		require.NoError(t, log.Close())
	}
}

// readLog reads a log. It returns nil if the log is damaged.
func readLog(content []byte) *SpendLog {
	l := &SpendLog{settled: map[string]Spend{}, unsettled: map[int64]reservation{}, byRequest: map[string]int64{}}
	if l.read(bytes.NewReader(content)) != nil {
		return nil
	}
	return l
}

// Floor: two checksums and nine numbers for each request.
func BenchmarkOpenSpendLog(b *testing.B) {
	path := filepath.Join(b.TempDir(), "spend.log")
	log := openLog(b, path)
	l := New(Options{Log: log}).Lane("p", "k")
	const requests = 10_000
	for range requests {
		acquire(b, l, Request{Input: 1234, CostNanoUSD: 56789}).Done(Result{})
	}
	require.NoError(b, log.Close())
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, openLog(b, path).Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/requests, "ns/request")
}
