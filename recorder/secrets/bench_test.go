package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkFind searches a request of 10 KB and a streamed reply of 10 KB for eight known
// credentials. The target is the time of bytes.Contains for every form of every credential, in
// the plain text only.
func BenchmarkFind(b *testing.B) {
	var values []string
	for i := range 8 {
		values = append(values, fmt.Sprintf("canary-%d-0123456789abcdefghijklmn", i))
	}
	s := New(values...)
	texts := map[string]string{
		"request": `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word\\n ", 1400) + `"}]}`,
		"stream":  strings.Repeat(sse(`{"id":"c","choices":[{"index":0,"delta":{"content":" word\n"}}]}`), 150),
		"plain":   strings.Repeat("word ", 2000),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if s.Find(text) != "" {
					b.Fatal("found")
				}
			}
		})
		b.Run(name+"/floor", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			words := append(s.known.Load().forms.words, hints().words...)
			for b.Loop() {
				for _, w := range words {
					if strings.Contains(text, w) && w[0] == 'c' {
						b.Fatal("found")
					}
				}
			}
		})
	}
	b.Run("stream, joined", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(texts["stream"])))
		for b.Loop() {
			streamedTexts(texts["stream"])
		}
	})
}
