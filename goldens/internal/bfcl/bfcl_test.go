package bfcl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// question is a question with its accepted answer, read by both implementations.
type question struct {
	id, category string
	answer       *Answer
	second       second
}

var categories = []string{"simple", "multiple_function", "parallel_function", "parallel_multiple_function", "relevance"}

// questions reads questions of a category.
func questions(t testing.TB, category string, in io.Reader) (out []question) {
	t.Helper()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			ID       string
			Function json.RawMessage
			Accepted json.RawMessage `json:"ground_truth"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		functions, err := Functions(row.Function)
		require.NoError(t, err, row.ID)
		q := question{id: row.ID, category: category, second: second{category: category, accepted: secondCalls(string(row.Accepted))}}
		switch declared := secondJSON(string(row.Function)).(type) {
		case []any:
			q.second.functions = declared
		default:
			q.second.functions = []any{declared}
		}
		if row.Accepted == nil {
			row.Accepted = json.RawMessage("[]")
		}
		q.answer, err = New(functions, row.Accepted)
		require.NoError(t, err, row.ID)
		out = append(out, q)
	}
	require.NoError(t, lines.Err())
	return out
}

// fixture reads the questions that are part of this repository.
func fixture(t testing.TB) (out []question) {
	t.Helper()
	for _, category := range categories {
		text, err := os.ReadFile(filepath.Join("testdata", category+".jsonl"))
		require.NoError(t, err)
		out = append(out, questions(t, category, bytes.NewReader(text))...)
	}
	return out
}

// published reads all 1,240 questions, and skips the test where they are absent.
func published(t testing.TB) (out []question) {
	t.Helper()
	for _, category := range categories {
		in, err := gzip.NewReader(bytes.NewReader(testkit.Shared(t, "published", "bfcl", category+".jsonl.gz")))
		require.NoError(t, err)
		out = append(out, questions(t, category, in)...)
	}
	require.Len(t, out, 1240)
	return out
}

// compare judges n mutated answers by both implementations and lists those that are judged
// differently.
func compare(t *testing.T, all []question, n int) {
	t.Helper()
	m := mutator{rand.New(rand.NewPCG(22, 1))}
	right := 0
	var differ []string
	for i := range n {
		q := all[i%len(all)]
		answer := m.answer(q.answer)
		for range m.IntN(4) {
			answer = m.mutate(q.answer, answer)
		}
		calls := texts(answer)
		var pairs [][2]string
		for _, c := range calls {
			pairs = append(pairs, [2]string{c.Name, c.Args})
		}
		why := q.answer.Wrong(calls)
		if why == "" {
			right++
		}
		if (why == "") != q.second.right(pairs) {
			differ = append(differ, fmt.Sprintf("%s: %s: %q", q.id, calls, why))
		}
	}
	t.Logf("%d answers, %d right", n, right)
	require.Empty(t, differ)
	require.Greater(t, right, n/5, "mutations that leave an answer right")
	require.Less(t, right, n*3/5, "mutations that make an answer wrong")
}

func TestTwoImplementationsAgree(t *testing.T) {
	t.Parallel()
	compare(t, fixture(t), 500)
}

func TestTwoImplementationsAgreeOnPublishedQuestions(t *testing.T) {
	t.Parallel()
	compare(t, published(t), testkit.Long(1240, 20_000))
}
