package formats

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// rows writes n conversations of ten messages, with calls and results of the usual length.
func rows(t testing.TB, n int) []imports.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	var b bytes.Buffer
	text := strings.Repeat("A sentence of a conversation, with 12 numbers. ", 12)
	for i := range n {
		fmt.Fprintf(&b, `{"suite_name":"workspace","pipeline_name":"p","user_task_id":"user_task_%d","injection_task_id":null,"attack_type":null,"injections":{},"error":null,"utility":%v,"security":true,"duration":3.5,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%q}`, i, i%3 > 0, text)
		for j := range 4 {
			fmt.Fprintf(&b, `,{"role":"assistant","content":"I look.","tool_calls":[{"function":"search","args":{"query":"a","page":%d},"id":"c%d"}]},{"role":"tool","content":%q,"tool_call_id":"c%d","tool_call":{"function":"search","args":{}},"error":null}`, j, j, text, j)
		}
		b.WriteString("]}\n")
	}
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return []imports.File{{Path: path, Source: manifest.SourceFile{Name: "runs.jsonl"}}}
}

// importAll makes a run folder of files.
func importAll(t testing.TB, f imports.Format, files []imports.File, target imports.Target, o imports.Options) (dir string, m manifest.Manifest, r imports.Result) {
	t.Helper()
	target.Runs, target.Format, target.Files = t.TempDir(), "test", files
	dir, m, r, err := imports.Write(target, func(add func(*imports.Episode) error) (imports.Result, error) {
		return f.Read(t.Context(), files, o, add)
	})
	require.NoError(t, err)
	return dir, m, r
}

// BenchmarkImport measures messages from JSON lines to a sealed run folder.
func BenchmarkImport(b *testing.B) {
	const conversations, each = 2000, 10
	files := rows(b, conversations)
	b.ResetTimer()
	for range b.N {
		importAll(b, AgentDojo{}, files, imports.Target{}, imports.Options{})
	}
	b.ReportMetric(float64(b.N)*conversations*each/b.Elapsed().Seconds(), "messages/s")
}
