package gateway

import (
	"net/http"
	"strings"
	"testing"
)

// BenchmarkRequest measures the work on a request of 20 KiB before it is sent.
func BenchmarkRequest(b *testing.B) {
	body := []byte(`{"model": "m", "stream": true, "messages": [` + strings.Repeat(`{"role": "user", "content": "`+strings.Repeat("what \\\"was\\\" said ", 40)+`"},`, 28) +
		`{"role": "user", "content": "and now?"}]}`)
	fixed := Fixed{"some token", "{token}", "http://127.0.0.1:80", "{proxy}"}
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"x"}, "Accept-Encoding": {"gzip"}}
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := Parse("POST", "/v1/chat/completions", "", h, body); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, _ := Parse("POST", "/v1/chat/completions", "", h, body)
	b.Run("compared", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := r.Compared(Rules{Fixed: fixed}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
