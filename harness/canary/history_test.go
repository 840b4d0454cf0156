package canary

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/testkit"
)

func TestHistoryIsAppendedAndReadBack(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	history, unreadable, err := Load(runs)
	require.NoError(t, err)
	require.Empty(t, history)
	require.Zero(t, unreadable)

	all := series(3)
	all[1].Change = &Change{On: all[1].At, Since: all[0].At, Certain: true, Evidence: []string{"served model a → b"}}
	for _, o := range all {
		require.NoError(t, Append(runs, o))
	}
	history, unreadable, err = Load(runs)
	require.NoError(t, err)
	require.Equal(t, all, history)
	require.Zero(t, unreadable)
}

// A line that a killed process left incomplete is skipped; the next lines are read.
func TestATornLineIsLeftOut(t *testing.T) {
	runs := t.TempDir()
	all := series(2)
	require.NoError(t, Append(runs, all[0]))
	f, err := os.OpenFile(filepath.Join(runs, File), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"provider":"openai","model":"gp`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	history, unreadable, err := Load(runs)
	require.NoError(t, err)
	require.Equal(t, all[:1], history)
	require.Equal(t, 1, unreadable)

	require.NoError(t, Append(runs, all[1]))
	history, unreadable, err = Load(runs)
	require.NoError(t, err)
	require.Equal(t, all, history)
	require.Equal(t, 1, unreadable)
}

// A flipped bit is reported with the number of its line, or changes nothing. A history
// that is cut has the result of one without the later nights.
func TestAChangedLineIsRefused(t *testing.T) {
	runs := t.TempDir()
	all := series(3)
	for _, o := range all {
		require.NoError(t, Append(runs, o))
	}
	path := filepath.Join(runs, File)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	refused := 0
	step := testkit.SlowN(13, 1) // meets each bit of a byte
	for bit := 0; bit < 8*len(whole); bit += step {
		changed := bytes.Clone(whole)
		changed[bit/8] ^= 1 << (bit % 8)
		history, _, err := Read(bytes.NewReader(changed))
		if err == nil {
			require.Equal(t, all, history, "bit %d", bit)
			continue
		}
		refused++
		require.ErrorAs(t, err, new(*sealed.CorruptError))
		require.Regexp(t, `canary.jsonl:[1-4]: the line was changed`, err)
	}
	require.Greater(t, refused, 7*len(whole)/step)
	for n := 0; n < len(whole); n += step {
		history, unreadable, err := Read(bytes.NewReader(whole[:n]))
		require.NoError(t, err, "cut at %d", n)
		require.Equal(t, all[:len(history)], append([]Observation{}, history...))
		require.LessOrEqual(t, unreadable, 1)
	}
	require.NoError(t, os.WriteFile(path, bytes.Replace(whole, []byte(`"set":"`), []byte(`"set":"x`), 1), 0o666))
	_, _, err = Load(runs)
	require.ErrorContains(t, err, path+":1: the line was changed after it was written; restore the file from a copy, or delete the line")
}

// Lines of an older cupel have no checksum.
func TestLinesWithoutASeal(t *testing.T) {
	line, err := json.Marshal(series(1)[0])
	require.NoError(t, err)
	history, unreadable, err := Read(bytes.NewReader(append(line, '\n')))
	require.NoError(t, err)
	require.Equal(t, series(1), history)
	require.Zero(t, unreadable)
}

func TestLinesThatCannotBeUsed(t *testing.T) {
	good, err := json.Marshal(nightOf(0, "m", "a"))
	require.NoError(t, err)
	for name, line := range map[string]string{
		"not JSON": "canary", "a list": "[]", "without a model": `{"provider":"p","set":"s","at":"2026-11-01T00:00:00Z"}`,
		"without a time":        `{"provider":"p","model":"m","set":"s"}`,
		"few answers":           `{"provider":"p","model":"m","set":"s","at":"2026-11-01T00:00:00Z","answers":[{"digest":"a"}]}`,
		"a change later":        strings.Replace(string(good), `"set"`, `"change":{"on":"2027-01-01T00:00:00Z"},"set"`, 1),
		"a negative length":     strings.Replace(string(good), `"tokens":10`, `"tokens":-10`, 1),
		"a probability above 1": strings.Replace(string(good), `"logprob":null`, `"logprob":1`, 1),
		"too long":              strings.Repeat("x", maxLine+1),
	} {
		history, unreadable, err := Read(strings.NewReader(line + "\n" + string(good)))
		require.NoError(t, err)
		require.Len(t, history, 1, name)
		require.Equal(t, 1, unreadable, name)
	}
}

// For any content of the history, reading ends, and what was read can be judged and
// written again.
func FuzzHistory(f *testing.F) {
	for _, o := range series(2) {
		line, err := json.Marshal(o)
		require.NoError(f, err)
		f.Add(append(line, '\n'))
		f.Add(line[:len(line)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		history, unreadable, err := Read(bytes.NewReader(text))
		if err != nil {
			require.ErrorAs(t, err, new(*sealed.CorruptError))
			return
		}
		require.LessOrEqual(t, len(history)+unreadable, bytes.Count(text, []byte{'\n'})+1)
		for i, o := range history {
			line, err := json.Marshal(o)
			require.NoError(t, err)
			again, _, err := Read(bytes.NewReader(line))
			require.NoError(t, err)
			require.Len(t, again, 1)
			if i < 20 {
				Judge(history[:min(len(history), 40)], o)
			}
		}
	})
}
