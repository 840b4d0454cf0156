package contract_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
)

// benchTurn is a valid turn of about 390 bytes, and 39 more per sentence.
func benchTurn(sentences int) string {
	return `{
  "control": {"done": false, "reason": "ok"},
  "next_action": {
    "type": "tool",
    "name": "get_counts",
    "args": {"start_date": "2026-05-01", "end_date": "2026-05-07", "label": "angry"}
  },
  "state_update": {
    "plan": "1. Read today's date.\n2. Work out the week.\n3. Ask for the angry counts.\n4. Answer with the sum.",
    "observation": "` + strings.Repeat("The week runs from Friday to Thursday. ", sentences) + `",
    "confidence": 0.84
  }
}`
}

// BenchmarkJudge: the floor is reading every token of the same bytes with jsontext,
// which decodes without a judgement. The set of tools has already validated the call;
// BenchmarkValidate in package tool measures a new one.
func BenchmarkJudge(b *testing.B) {
	tools, turn := countTools(b), benchTurn(5)
	require.InDelta(b, 600, len(turn), 25, "a typical turn")
	for name, turn := range map[string]string{"turn=600B": turn, "turn=930B": benchTurn(14)} {
		require.True(b, contract.Judge(turn, tools).Valid)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(turn)))
			for b.Loop() {
				contract.Judge(turn, tools)
			}
		})
	}
	b.Run("floor=jsontext", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(turn)))
		text := []byte(turn)
		for b.Loop() {
			in := jsontext.NewDecoder(bytes.NewReader(text))
			for {
				if _, err := in.ReadToken(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkRepair repairs a fenced turn with a comment and a trailing comma, and
// rejects the slowest prose. Floor: reading the bytes a dozen times.
func BenchmarkRepair(b *testing.B) {
	for name, raw := range map[string]string{
		"fenced": "Here you are:\n```json\n" + strings.Replace(benchTurn(14), "0.84", "0.84, // sure", 1) + "\n```",
		"braces": strings.Repeat("{", 64<<10),
		"quotes": strings.Repeat(`"`, 64<<10),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				contract.Repair(raw)
			}
		})
	}
}
