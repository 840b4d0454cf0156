package otlp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// large is one document of at least size bytes, which holds n spans, up to 1,000 in a trace.
type large struct {
	size, sent, n int
	rest          []byte
}

// Read implements io.Reader.
func (l *large) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		switch {
		case l.n < 0:
			return 0, io.EOF
		case l.sent >= l.size:
			l.rest, l.n = []byte(`]}]}]}`), -1-l.n
		default:
			head := ","
			if l.n == 0 {
				head = `{"resourceSpans":[{"scopeSpans":[{"spans":[`
			}
			l.n++
			span := one(l.n, 0, "chat m", attrOperation, str1(opChat), attrModel, str1("m"), attrIn, int1(l.n), attrSystem, str1(strings.Repeat("x", 2000)))
			l.rest = []byte(head + strings.Replace(span, fmt.Sprintf("%032x", 1), fmt.Sprintf("%032x", l.n/1000+1), 1))
		}
	}
	n := copy(p, l.rest)
	l.rest, l.sent = l.rest[n:], l.sent+n
	return n, nil
}

func (l *large) spans() int { return -1 - l.n }

// TestLargeFile: a file of 100 MB is imported whole.
func TestLargeFile(t *testing.T) {
	for _, size := range []int{1 << 20, 100 << 20} {
		t.Run(fmt.Sprint(size>>20, " MiB"), func(t *testing.T) {
			if size > 1<<20 {
				testkit.Slow(t)
			}
			path := filepath.Join(t.TempDir(), "traces.json")
			f, err := os.Create(path)
			require.NoError(t, err)
			doc := &large{size: size}
			_, err = io.Copy(f, doc)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			r, err := readFiles([]imports.File{{Path: path}}, imports.Options{})
			require.NoError(t, err)
			require.Greater(t, doc.spans(), size/3000)
			turns, sum := 0, int64(0)
			for _, e := range r.Episodes {
				turns += len(e.Turns)
				for _, turn := range e.Turns {
					sum += *turn.In
				}
			}
			require.Equal(t, doc.spans(), turns)
			require.Equal(t, int64(turns)*int64(turns+1)/2, sum)
		})
	}
}

// TestReceiverTakesNoLargeBody: a body of 100 MB, also compressed, is refused by its size, and
// the receiver keeps what it had.
func TestReceiverTakesNoLargeBody(t *testing.T) {
	const size = 100 << 20
	spaces := append([]byte("{"), bytes.Repeat([]byte(" "), size)...)
	for name, body := range map[string]io.Reader{
		"spans": &large{size: size}, "spaces": bytes.NewReader(spaces), "compressed": bytes.NewReader(zipped(t, spaces)),
	} {
		t.Run(name, func(t *testing.T) {
			if name != "spaces" {
				testkit.Slow(t)
			}
			var r Receiver
			require.Equal(t, http.StatusOK, sendTo(&r, "/v1/traces", "application/json", []byte(traceText(spanText(1, "GET", attributeText("url.full", "https://a.example/x")+`,"kind":3`)))).Code)
			w := httptest.NewRecorder()
			r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/traces", body))
			require.Equal(t, http.StatusRequestEntityTooLarge, w.Code, w.Body.String())
			seen := r.Seen()
			require.Equal(t, 1, seen.Refused)
			require.Contains(t, seen.Problem, "more than")
			require.Equal(t, []string{"a.example"}, seen.Hosts)
		})
	}
}
