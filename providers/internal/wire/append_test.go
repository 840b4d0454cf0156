package wire

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/plainjson"
)

// escapes returns texts with a character to escape at each of eight positions.
func escapes() (list []string) {
	for _, c := range []string{
		"", "\x00", "\x1f", " ", "\"", "\\", "\n", "\r", "\t", "\b", "\f", "\x7f", "<&>", "é", "日本", "😀",
		"\u2028", "\u2029", "\u202a", "\xff", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\uFFFD", "!\"#", "[\\]",
	} {
		for n := range 18 {
			list = append(list, strings.Repeat("a", n)+c+c+strings.Repeat("z", 17-n))
		}
	}
	return list
}

func TestAppendStringIsEncodingJSON(t *testing.T) {
	for _, s := range escapes() {
		want, err := plainjson.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, "x"+string(want), string(AppendString([]byte("x"), s)), "%q", s)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range escapes() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := plainjson.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(AppendString(nil, s)))
	})
}

func TestAppendFloatIsEncodingJSON(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, 0.2, -0.7, 1e-6, 9.99e-7, 1e20, 1e21, 123456.789, math.MaxFloat64, 5e-324} {
		want, err := plainjson.Marshal(struct {
			A int      `json:"a"`
			F *float64 `json:"f"`
		}{1, &f})
		require.NoError(t, err)
		got := string(AppendFloat(AppendInt([]byte(`{"a":1`), "none", 0), "f", &f)) + "}"
		require.Equal(t, IsPlainFloat(&f), got == string(want), "%v", f)
	}
	require.Empty(t, AppendFloat(nil, "f", nil))
	require.Equal(t, `,"n":-7`, string(AppendInt(nil, "n", -7)))
	require.True(t, IsPlainFloat(nil))
	nan := math.NaN()
	require.False(t, IsPlainFloat(&nan))
}

// BenchmarkAppendString writes typical characters of a prompt. It is compared with
// encoding/json; the floor is a copy.
func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("- Choose EXACTLY ONE next_action per turn.\nschema = {\"type\":\"object\",\"required\":[\"label\"]}\n", 30)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(s)))
		into := make([]byte, 0, 2*len(s))
		for b.Loop() {
			into = AppendString(into[:0], s)
		}
	})
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			_, err := plainjson.Marshal(s)
			require.NoError(b, err)
		}
	})
}
