package harness_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// crashed is a run folder after a crash, which can be restored and resumed.
type crashed struct {
	t       *testing.T
	options harness.Options
	dir     string
	files   map[string][]byte // all but the journal
	journal []byte
	starts  []int64           // of the journal's records
	want    map[string]string // of a run that was left alone
}

const episodesLog = "journal/episodes.log"

// crash ends a small replay before its last episode.
func crash(t *testing.T) *crashed {
	t.Helper()
	o := countsOptions(t)
	suite := *o.Suite
	suite.Tasks = slices.DeleteFunc(slices.Clone(suite.Tasks), func(task goldens.Task) bool {
		return !slices.Contains([]string{"G01", "G02", "G03"}, task.ID)
	})
	o.Suite, o.Select.Candidates = &suite, []string{"strong"}
	o.Runs, o.Concurrency = t.TempDir(), 1
	whole, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	c := &crashed{t: t, want: runFiles(t, whole.Dir), files: map[string][]byte{}}
	o.Runs = fastDir(t)
	stopped := stopAfter(t, o, 2)
	require.Equal(t, 2, stopped.Manifest.Episodes)
	c.dir, o.Resume = stopped.Dir, stopped.Manifest.RunID
	c.options = o
	j, err := ledger.OpenJournal(c.dir, func(_ ledger.EpisodeRows, at int64) error {
		c.starts = append(c.starts, at)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	for _, name := range []string{"run.json", "journal/plan", "journal/settings"} {
		c.files[name], err = os.ReadFile(filepath.Join(c.dir, name))
		require.NoError(t, err)
	}
	c.journal, err = os.ReadFile(filepath.Join(c.dir, episodesLog))
	require.NoError(t, err)
	require.Len(t, c.starts, 2)
	return c
}

// resume restores the folder with another journal and resumes the run. It returns the number of
// executed episodes and the error.
func (c *crashed) resume(journal []byte) (ran int, err error) {
	c.t.Helper()
	require.NoError(c.t, os.MkdirAll(filepath.Join(c.dir, "journal"), 0o755))
	for name, text := range c.files {
		require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, name), text, 0o644))
	}
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, episodesLog), journal, 0o644))
	o := c.options
	o.Progress = func(harness.Progress) { ran++ }
	if _, err := harness.Run(context.Background(), o); err != nil {
		return ran, err
	}
	for name, text := range runFiles(c.t, c.dir) {
		require.True(c.t, c.want[name] == text, "%s differs from that of a run that was left alone", name)
	}
	return ran, nil
}

// whole returns the number of records that end at or before an offset of the journal.
func (c *crashed) whole(at int) int {
	ends := append(slices.Clone(c.starts[1:]), int64(len(c.journal)))
	n := 0
	for _, end := range ends {
		if int(end) <= at {
			n++
		}
	}
	return n
}

// stride skips most offsets of a journal unless CUPEL_SOAK is set, because all of them take 40 s.
func stride() int {
	switch {
	case os.Getenv("CUPEL_SOAK") != "":
		return 1
	case testing.Short():
		return 311
	}
	return testkit.Long(testkit.SlowN(101, 23), 7)
}

// Wherever a crash truncates the journal, a resumed run keeps the complete records and runs the
// other episodes, and its files equal those of an uninterrupted run.
func TestResumeWithATruncatedJournal(t *testing.T) {
	c := crash(t)
	for at := 0; at <= len(c.journal); at += stride() {
		ran, err := c.resume(c.journal[:at])
		require.NoError(t, err, "cut at %d", at)
		require.Equal(t, 3-c.whole(at), ran, "cut at %d", at)
	}
}

// A flipped bit is rejected with its file and offset, or treated as the truncated end, whose
// episode is run again. It never reaches the ledger.
func TestResumeWithAFlippedBitInTheJournal(t *testing.T) {
	c := crash(t)
	rng := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for at := 0; at < len(c.journal); at += stride() {
		journal := slices.Clone(c.journal)
		journal[at] ^= 1 << rng.IntN(8)
		ran, err := c.resume(journal)
		if err == nil {
			require.GreaterOrEqual(t, at, int(c.starts[1]), "a record before the last is no torn tail")
			require.Equal(t, 2, ran)
			continue
		}
		refused++
		require.Zero(t, ran)
		require.ErrorContains(t, err, "episodes.log")
		require.ErrorAs(t, err, new(*sealed.CorruptError))
		require.Regexp(t, `damaged at offset \d+|version`, err.Error())
		after, err := os.ReadFile(filepath.Join(c.dir, episodesLog))
		require.NoError(t, err)
		require.Equal(t, journal, after, "it stays as it is")
	}
	require.Positive(t, refused)
}

// A truncated or changed plan, manifest or settings file is rejected by name. None makes a partial
// run complete.
func TestResumeWithOtherDamagedFiles(t *testing.T) {
	c := crash(t)
	r := rand.New(rand.NewPCG(16, 5))
	refused := func(name, how, text string) {
		c.files[name] = []byte(text)
		_, err := c.resume(c.journal)
		require.ErrorContains(t, err, c.options.Resume, "%s %s", name, how)
		require.ErrorContains(t, err, name, "%s %s", name, how)
		require.ErrorAs(t, err, new(*sealed.CorruptError), "%s %s", name, how)
	}
	for _, name := range []string{"journal/plan", "run.json"} {
		text := string(c.files[name])
		for range 300 {
			at, bit := r.IntN(len(text)), r.IntN(8)
			refused(name, fmt.Sprint("cut at ", at), text[:at])
			refused(name, fmt.Sprintf("bit %d of %d", bit, at), flippedBit(text, 8*at+bit))
		}
		for i, line := range slices.Collect(strings.Lines(text)) { // whole lines
			refused(name, fmt.Sprint("without line ", i+1), strings.Replace(text, line, "", 1))
		}
		c.files[name] = []byte(text)
	}
	for name, text := range c.files {
		require.NoError(t, os.WriteFile(filepath.Join(c.dir, name), text, 0o666))
	}
	path := filepath.Join(c.dir, "journal", "settings")
	text := string(c.files["journal/settings"])
	for bit := range 8 * len(text) {
		require.NoError(t, os.WriteFile(path, []byte(flippedBit(text, bit)), 0o666))
		_, err := harness.ReadSettings(c.dir)
		require.ErrorAs(t, err, new(*sealed.CorruptError), "bit %d", bit)
		require.ErrorContains(t, err, path)
	}
	for n := range len(text) {
		require.NoError(t, os.WriteFile(path, []byte(text[:n]), 0o666))
		_, err := harness.ReadSettings(c.dir)
		require.ErrorAs(t, err, new(*sealed.CorruptError), "cut at %d", n)
	}
}

func flippedBit(text string, bit int) string {
	b := []byte(text)
	b[bit/8] ^= 1 << (bit % 8)
	return string(b)
}
