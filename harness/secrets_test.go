package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

const canary = "canary-0123456789-Zq"

// inFiles returns the names of the files below dir that contain text.
func inFiles(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		if bytes.Contains(b, []byte(text)) {
			found = append(found, filepath.Base(path))
		}
		return nil
	}))
	return found
}

// The reply of a person is stored without the credential in it.
func TestSecretOfAHumanIsRedacted(t *testing.T) {
	o := recordOptions(t, "G16")
	o.Mode, o.Secrets = recorder.Live, secrets.New(canary)
	o.Select.Candidates = []string{"strong"}
	o.Human = func(context.Context, episode.Question) (episode.Answer, bool) {
		return episode.Answer{Text: "the praise ones, and my key is " + canary}, true
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, []string{"the praise ones, and my key is [secret]"}, res.Answers[0].Replies)
	require.Equal(t, []string{"episodes.parquet", "replies.yaml"}, inFiles(t, res.Dir, "[secret]"))
	require.Empty(t, inFiles(t, res.Dir, canary))
	require.Contains(t, res.Redactions, secrets.Redaction{Field: "replies.yaml", Kind: "a configured secret", Count: 1})
}

// Names become paths and columns, so a name with a credential is rejected before anything is
// written. The error names its field.
func TestNamesWithSecretsAreRejected(t *testing.T) {
	for what, change := range map[string]func(*harness.Options){
		"the name of a candidate":         func(o *harness.Options) { o.Candidates[0].Name = canary },
		"the model of a candidate":        func(o *harness.Options) { o.Candidates[0].Model = canary },
		"the rescue model of a candidate": func(o *harness.Options) { o.Candidates[0].Rescue = canary },
		"the planner's model of a candidate": func(o *harness.Options) {
			o.Candidates[0].Agent, o.Candidates[0].Plan.ReasoningModel = "plan", canary
		},
		"the fallback model of a candidate": func(o *harness.Options) {
			o.Candidates[0].Agent, o.Candidates[0].Fallback = "tools", canary
		},
		"the base_url of a candidate": func(o *harness.Options) { o.Candidates[0].BaseURL = "https://api.test/" + canary },
		"the id of a task":            func(o *harness.Options) { o.Suite.Tasks[0].ID = canary; o.Select.Tasks = []string{canary} },
		"the suite's name":            func(o *harness.Options) { o.Suite.Name = canary },
	} {
		t.Run(what, func(t *testing.T) {
			o := recordOptions(t, "G01")
			o.Candidates = []goldens.Candidate{{Name: "c", Provider: "sim-openai", Model: "sim-strong"}}
			o.Key = func(goldens.Candidate) (string, error) { return canary, nil }
			change(&o)
			_, err := harness.Run(context.Background(), o)
			var config *harness.ConfigError
			require.ErrorAs(t, err, &config)
			require.ErrorContains(t, err, what+" contains a configured secret")
			require.NotContains(t, err.Error(), canary)
			for _, dir := range []string{o.Runs, o.CassetteDir} {
				left, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Empty(t, left)
			}
		})
	}
}

func TestSecretInATransportErrorIsRedacted(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	o.Secrets = secrets.New(canary)
	o.Transport = func(string) http.RoundTripper {
		return testkit.Refuse(errors.New("dial https://user:" + canary + "@proxy.test"))
	}
	onVirtualClock(t, func(t *testing.T) { // it waits as advised, in no time
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Contains(t, rowsOf(t, res).Episodes[0].ErrorText, "[secret]@proxy.test")
		require.Empty(t, inFiles(t, res.Dir, canary))
		require.Equal(t, []secrets.Redaction{{Field: "episodes.error_text", Kind: "a configured secret", Count: 1}}, res.Redactions)
	})
}

// A credential that a client library adds to a request below the recorder is learned.
func TestCredentialOfALibraryIsLearned(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	o.Secrets = secrets.New()
	next := o.Transport("")
	watch := o.Secrets.Watch(next)
	o.Transport = func(string) http.RoundTripper { return signing{watch} }
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "a configured secret", o.Secrets.Find("it was "+canary))
	require.Empty(t, o.Secrets.Find("G01 sha256 application/json"))
}

type signing struct{ next http.RoundTripper }

func (s signing) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+canary)
	return s.next.RoundTrip(req)
}

// A replay needs no credentials, and its rows equal those of the recording.
func TestReplayNeedsNoSecrets(t *testing.T) {
	o := recordOptions(t, "G01", "G41")
	o.Select.Candidates = []string{"strong"}
	o.Secrets = secrets.New(canary)
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", recorded.Manifest.Status)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	o.Secrets = secrets.New("answered", "strong-erratic", rowsOf(t, recorded).Episodes[0].Answer)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
	require.Empty(t, replayed.Redactions)
}

func TestReadRunReplacesSecrets(t *testing.T) {
	key := "sk-" + strings.Repeat("Zx81", 8)
	m := manifest.Manifest{SuitePath: key, Tasks: []manifest.Task{{Tags: []string{"a", key}}}, Candidates: []manifest.Candidate{{Model: "m " + key}}}
	m.Format = manifest.Format
	k := ledger.Key{TaskID: "T", Candidate: "fine", Trial: 1}
	rows := ledger.Rows{
		Episodes:  []ledger.Episode{{Key: k, Answer: key, Checks: []ledger.Check{{Detail: "want " + key}}}},
		Turns:     []ledger.Turn{{Key: k, Warnings: []string{key}, Confidence: new(float64)}},
		ToolCalls: []ledger.ToolCall{{Key: k, ToolName: key}},
	}
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	read, episodes, err := harness.ReadRun(dir)
	require.NoError(t, err)
	require.Equal(t, manifest.Manifest{Format: manifest.Format, SuitePath: "[secret]", Tasks: []manifest.Task{{Tags: []string{"a", "[secret]"}}}, Candidates: []manifest.Candidate{{Model: "m [secret]"}},
		LedgerDigest: read.LedgerDigest, Episodes: 1, Turns: 1, ToolCalls: 1}, read)
	n := 0
	for got, err := range episodes {
		require.NoError(t, err)
		require.Equal(t, ledger.EpisodeRows{
			Episode:   ledger.Episode{Key: k, Answer: "[secret]", Checks: []ledger.Check{{Detail: "want [secret]"}}},
			Turns:     []ledger.Turn{{Key: k, Warnings: []string{"[secret]"}, Confidence: new(float64)}},
			ToolCalls: []ledger.ToolCall{{Key: k, ToolName: "[secret]"}},
		}, got)
		n++
	}
	require.Equal(t, 1, n)
	_, _, err = harness.ReadRun(t.TempDir())
	require.Error(t, err)
}

// BenchmarkReadRun reads a run of 10,000 turns for a report and searches it for credentials. The
// lower bound is BenchmarkReadTurns in package ledger.
func BenchmarkReadRun(b *testing.B) {
	turn := ledger.Turn{Key: ledger.Key{RunID: "01KRFQWQ40M6B5X1RZ5W9X6M9Q", EpisodeID: "01KRFQWQ40M6B5X1RZ5W9X6M9Q", Suite: "counts", TaskID: "G01", Candidate: "strong", Provider: "openai", Model: "gpt"}, ActionID: "01KRFQWQ40M6B5X1RZ5W9X6M9Q", PriceDigest: strings.Repeat("0f", 32), RequestDigest: strings.Repeat("0f", 32), Cassette: "strong/G01/1.yaml"}
	rows := ledger.Rows{Turns: make([]ledger.Turn, 10_000), Episodes: make([]ledger.Episode, 2500)}
	for i := range rows.Turns {
		turn.TaskID, turn.Turn = fmt.Sprintf("G%05d", i/4), int32(i%4+1)
		rows.Turns[i], rows.Episodes[i/4].Key = turn, turn.Key
	}
	dir := b.TempDir()
	require.NoError(b, ledger.Write(dir, manifest.Manifest{Format: manifest.Format}, rows))
	b.ReportAllocs()
	for b.Loop() {
		_, episodes, err := harness.ReadRun(dir)
		require.NoError(b, err)
		for _, err := range episodes {
			require.NoError(b, err)
		}
	}
}
