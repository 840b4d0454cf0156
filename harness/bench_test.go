package harness_test

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	govcr "github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// BenchmarkReplay replays the built-in suite: load cassettes, run the agent, score, journal and
// write the ledger. The lower bound is loading the same cassettes (BenchmarkLoad in package
// recorder) and making the exchanges (BenchmarkReplayFloor, in one loop; a replay uses all
// cores).
func BenchmarkReplay(b *testing.B) {
	for _, name := range []string{"rows", "ledger", "pack"} {
		b.Run(name, func(b *testing.B) {
			o := countsOptions(b)
			if name == "pack" { // rows, from a pack instead of YAML
				o.Cassettes = countsPack(b)
			}
			b.ReportAllocs()
			turns := 0
			for b.Loop() {
				if name == "ledger" {
					o.Runs = b.TempDir()
				}
				res, err := harness.Run(context.Background(), o)
				require.NoError(b, err)
				turns += res.Manifest.Turns
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
		})
	}
}

// BenchmarkReplayFloor only makes the exchanges of the same suite: an http.Client returns
// prepared bytes, and encoding/json decodes each reply. It does not open, match, judge or store
// anything.
func BenchmarkReplayFloor(b *testing.B) {
	list := exchangesOf(b)
	next := 0
	client := &http.Client{Transport: testkit.Transport(func(r *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		return testkit.Reply(r, list[next].Code, list[next].Response.Body), nil
	})}
	b.ReportAllocs()
	for b.Loop() {
		for next = range list {
			resp, err := client.Post(list[next].URL, "application/json", strings.NewReader(list[next].Request.Body))
			require.NoError(b, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(b, err)
			var reply any
			require.NoError(b, json.Unmarshal(text, &reply))
		}
	}
	b.ReportMetric(float64(b.N*len(list))/b.Elapsed().Seconds(), "turns/s")
}

// exchangesOf returns the recorded exchanges of the built-in suite that have a reply.
func exchangesOf(b testing.TB) (list []*govcr.Interaction) {
	files, closeAll, err := cassettes.Open(countsSuite(b))
	require.NoError(b, err)
	defer closeAll()
	names, err := cassette.List(files)
	require.NoError(b, err)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		require.NoError(b, err)
		var c govcr.Cassette
		require.NoError(b, yaml.Unmarshal(text, &c))
		for _, x := range c.Interactions {
			if json.Valid([]byte(x.Response.Body)) {
				list = append(list, x)
			}
		}
	}
	return list
}

// BenchmarkOverhead measures cupel's own cost per turn: plan, machine, prompt, judgement, rows
// and checks. It runs the scripted tasks, without provider and cassettes and with tools that
// only read a table. The lower bound is BenchmarkStep in package agent, the machine alone.
func BenchmarkOverhead(b *testing.B) {
	o := countsOptions(b)
	o.Select.Candidates, o.Concurrency = []string{episode.ScriptedCandidate}, 1
	b.ReportAllocs()
	turns := 0
	for b.Loop() {
		res, err := harness.Run(context.Background(), o)
		require.NoError(b, err)
		turns += res.Manifest.Turns
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(turns), "µs/turn")
}
