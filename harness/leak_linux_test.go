package harness_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// socketless gives every request the same reply, without a socket.
type socketless struct{}

func (socketless) RoundTrip(req *http.Request) (*http.Response, error) {
	return testkit.Reply(req, http.StatusOK, `{"choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`), nil
}

// openFiles returns the number of file descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc")
	}
	return len(entries)
}

// Runs of every kind and end leave no goroutine and no open file.
func TestRunsLeakNothing(t *testing.T) {
	replay := countsOptions(t)
	replay.Select.Tasks = []string{"G01", "G02"}
	network := replay
	network.Transport = func(string) http.RoundTripper { return socketless{} }
	network.Retry.Sleep = noSleep
	for name, test := range map[string]struct {
		options harness.Options
		change  func(t *testing.T, o *harness.Options)
		fails   string
	}{
		"replay":             {options: replay, change: func(*testing.T, *harness.Options) {}},
		"replay in a folder": {options: replay, change: func(t *testing.T, o *harness.Options) { o.Runs = fastDir(t) }},
		"record": {options: network, change: func(t *testing.T, o *harness.Options) {
			o.Mode, o.Runs, o.CassetteDir = recorder.Record, fastDir(t), fastDir(t)
		}},
		"live": {options: network, change: func(t *testing.T, o *harness.Options) { o.Mode, o.Runs = recorder.Live, fastDir(t) }},
		"live below a cap": {options: network, change: func(t *testing.T, o *harness.Options) {
			o.Mode, o.Runs, o.Caps = recorder.Live, fastDir(t), admission.Caps{Requests: 2}
		}},
		"cancelled": {options: network, change: func(t *testing.T, o *harness.Options) {
			o.Mode, o.Runs = recorder.Live, fastDir(t)
			drain := make(chan struct{})
			close(drain)
			o.Drain = drain
		}},
		"no cassettes": {options: replay, fails: "no cassette", change: func(t *testing.T, o *harness.Options) {
			o.Runs, o.Cassettes = fastDir(t), fstest.MapFS{}
		}},
		"no folder": {options: replay, fails: "not a directory", change: func(t *testing.T, o *harness.Options) {
			o.Runs = filepath.Join(t.TempDir(), "file", "runs")
			require.NoError(t, os.WriteFile(filepath.Dir(o.Runs), nil, 0o644))
		}},
		"no ledger": {options: replay, fails: "write ledger", change: func(t *testing.T, o *harness.Options) {
			o.Runs = fastDir(t)
			o.Progress = func(p harness.Progress) {
				_ = os.MkdirAll(filepath.Join(o.Runs, p.Last.RunID, "turns.parquet"), 0o755) // the run says if it failed
			}
		}},
		"nothing to resume": {options: replay, fails: "resume run", change: func(t *testing.T, o *harness.Options) {
			o.Runs, o.Resume = fastDir(t), "nothing"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.options
			test.change(t, &o)
			once := func() {
				_, err := harness.Run(context.Background(), o)
				if test.fails != "" {
					require.ErrorContains(t, err, test.fails)
					return
				}
				require.NoError(t, err)
			}
			rounds := testkit.Long(testkit.SlowN(5, 20), 100)
			once() // what is made once stays
			before, goroutines := openFiles(t), goleak.IgnoreCurrent()
			for range rounds {
				once()
			}
			require.Equal(t, before, openFiles(t))
			goleak.VerifyNone(t, goroutines)
		})
	}
}

// full makes the writes to a file of a run fail from the n-th request on, as on a full disk.
type full struct {
	socketless
	t    *testing.T
	file string
	left atomic.Int32
	// late counts the requests after that.
	isFull atomic.Bool
	late   atomic.Int32
}

func (f *full) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.isFull.Load() {
		f.late.Add(1)
	}
	if f.left.Add(-1) == 0 {
		disk, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
		require.NoError(f.t, err)
		fds, err := os.ReadDir("/proc/self/fd")
		require.NoError(f.t, err)
		for _, fd := range fds {
			if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasSuffix(to, f.file) {
				number := 0
				for _, digit := range fd.Name() {
					number = 10*number + int(digit-'0')
				}
				require.NoError(f.t, unix.Dup3(int(disk.Fd()), number, unix.O_CLOEXEC))
			}
		}
		require.NoError(f.t, disk.Close())
		f.isFull.Store(true)
	}
	return f.socketless.RoundTrip(req)
}

// A run that cannot write its spend log sends no further requests. Its results stay, the error says
// what failed and how to continue, and the resumed run completes.
func TestFilesThatFailMidway(t *testing.T) {
	for file, want := range map[string]string{
		"journal/spend.log": "spend.log", "journal/episodes.log": "episodes.log", "limits.jsonl": "",
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			o := countsOptions(t)
			o.Mode, o.Runs, o.Retry.Sleep = recorder.Live, fastDir(t), noSleep
			o.Select.Candidates, o.Concurrency = []string{"strong"}, 4
			o.Now = func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) }
			network := &full{t: t, file: file}
			network.left.Store(40)
			o.Transport = func(string) http.RoundTripper { return network }
			res, err := harness.Run(context.Background(), o)
			if want == "" {
				require.NoError(t, err)
				require.Equal(t, "complete", res.Manifest.Status)
				return
			}
			require.ErrorContains(t, err, want)
			require.Regexp(t, "no space left on device|invalid argument", err.Error(), "the second where it had been written and was to be synced")
			require.ErrorContains(t, err, "resume with: cupel run --resume "+res.Dir)
			require.Less(t, network.late.Load(), int32(10), "nothing more is sent but what was in progress")

			o.Resume = filepath.Base(res.Dir)
			network.left.Store(0)
			whole, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, "complete", whole.Manifest.Status)
			require.Len(t, unscripted(o.Suite), whole.Manifest.Episodes)
		})
	}
}
