package recorder

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkFind looks through a request of 10 KB and a streamed reply of 10 KB,
// knowing eight credentials. Floor: the time of bytes.Contains for every form of
// every credential, on the text as it stands only.
func BenchmarkFind(b *testing.B) {
	var values []string
	for i := range 8 {
		values = append(values, fmt.Sprintf("canary-%d-0123456789abcdefghijklmn", i))
	}
	s := NewSecrets(values...)
	texts := map[string]string{
		"request": request(1, 10_000),
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
			streamed(texts["stream"])
		}
	})
}

// BenchmarkScanOfARecording is the share of Save that looks for credentials: about
// a quarter on a file system in memory, which makes it 5 % of recording an episode
// from a server without latency. Floor: reading the YAML back, which Save does too.
func BenchmarkScanOfARecording(b *testing.B) {
	data := recorded(b, 8, 8000)
	t, err := decode(data, false)
	require.NoError(b, err)
	s := NewSecrets("canary-0-0123456789", "canary-1-0123456789", "canary-2-0123456789")
	o := Options{Path: "t/1.yaml", Secrets: s}
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := scan(o, t); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("save", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		file := filepath.Join(b.TempDir(), "1.yaml")
		for b.Loop() {
			data, err := press(o, t)
			if err != nil {
				b.Fatal(err)
			}
			if err := writeFile(file, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
