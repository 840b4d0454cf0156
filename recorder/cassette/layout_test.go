package cassette

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/recorder/internal/checksum"
)

func TestBodiesAreReadable(t *testing.T) {
	cases := map[string]struct{ body, want string }{
		"json":            {`{"a":"b\nc"}`, "|-\n      {\"a\":\"b\\nc\"}\n"},
		"events":          {"data: 1\n\ndata: 2\n\n", "|+\n      data: 1\n\n      data: 2\n\n"},
		"events, CR LF":   {"data: 1\r\n\r\n  2", "\"data: 1\\r\\n\\\n      \\r\\n\\\n      \\  2\"\n"},
		"one line":        {"hello\n", "|\n      hello\n"},
		"indented":        {"  x\n", "|2\n        x\n"},
		"nothing":         {"", "\"\"\n"},
		"only newlines":   {"\n\n", "\"\\n\\\n      \\n\"\n"},
		"no text":         {"\xff\x00", "!!binary |-\n      /wA=\n"},
		"long and binary": {strings.Repeat("\xff", 60), "!!binary |-\n      " + strings.Repeat("/", 76) + "\n      ////\n"},
		"control":         {"\x1b[0m\u2028", "\"\\x1B[0m\\u2028\"\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &writer{}
			w.body(c.body)
			require.Equal(t, c.want, string(w.b))
			l := &layout{rest: c.want + "    next"}
			require.Equal(t, c.body, l.body())
			require.False(t, l.bad)
			require.Equal(t, "    next", l.rest)
		})
	}
}

// The fast reader leaves everything that encode does not write to the YAML reader, even if the
// meaning is clear.
func TestFastReaderReadsOnlyItsFormat(t *testing.T) {
	bodies := []string{
		"x\n", "'x'\n", "|\n", "|-\n\n", "|\n      x", "|\n     x\n", "|\n      x\n\n", "|-\n      x\n\n", "|\n       x\n", "|\n\n      x\n",
		"|3\n         x\n", "|2+\n\n\n", ">\n      x\n", "| \n      x\n", "|-2\n      x\n", "|\n      x\n      \n", "|\n      \tx\n",
		"\"x\n", "\"x\ny\"\n", "\"\\q\"\n", "\"\\", "\"\\x1\"\n", "\"\\xzz\"\n", "\"\\uD800\"\n", "\"\\u+123\"\n", "\"\\\n     x\"\n", "\"\\\n       x\"\n",
		"\"x\" \n", "\"x\" # comment\n", "!!binary \"\\n\"\n", "!!binary \"/w\"\n", "!!binary \"\"\n", "!!binary |-\n      *\n", "!!binary |\n      /wA=\n", "!!str \"x\"\n",
	}
	for _, text := range bodies {
		l := &layout{rest: text}
		l.body()
		require.True(t, l.bad || l.rest != "", "%q", text)
	}
	for _, text := range []string{"", "[]", "[5]", "[5, 1", "[5, 1]], ", "[5,1]]", "[5, 1],[6, 2]]", "[5, 1], 6, 2]]", "[05, 1]]", "[+5, 1]]", "[5, -1]]", "[5, 1, 2]]", "5, 1]]", "[[5, 1]]]", "[0x5, 1]]", "[5, 99999999999999999999]]"} {
		l := &layout{}
		l.reads(text)
		require.True(t, l.bad, "%q", text)
	}
	l := &layout{}
	require.Equal(t, []BodyRead{{5, 1}, {6, 2}}, l.reads("[5, 1], [6, 2]]"))
	require.Empty(t, l.reads("]"))
	require.False(t, l.bad)

	whole := string(Encode(sample()))
	whole = whole[:len(whole)-checksum.Size]
	for _, swap := range [][2]string{
		{"version: 1", "version: 2"}, {"format: 1", "format: 2"}, {"  trial: 2", "  trial: two"}, {"simulated: true", "simulated: yes"},
		{"\"tools\"", "\"prompt\""}, {"duration: 0s", "duration: 0ms"}, {"duration: 0s", "duration: soon"}, {"\"Accept\":", "Accept:"},
		{"\"Accept\":", "\"Content-Type\":"}, {"headers:\n      \"Accept\":\n      - \"a/b\"\n      - \"c/d\"\n", "headers:\n      \"Accept\":\n"},
		{"code: 200", "code: 0200"}, {"form: {}", "form: { }"}, {"- request:", "-  request:"}, {"---\n", ""}, {"a/b", "a\u0085b"},
	} {
		require.Contains(t, whole, swap[0])
		_, ok := DecodeContent(strings.Replace(whole, swap[0], swap[1], 1))
		require.False(t, ok, "%q", swap)
	}
	_, ok := DecodeContent(whole + "\n")
	require.False(t, ok)
}

// The check of eight bytes at a time agrees with the check of single bytes, for every byte at
// every position.
func TestPrintableEightAtATime(t *testing.T) {
	for c := range 256 {
		for at := range 8 {
			b := []byte("~~  ~ ~ ")
			b[at] = byte(c)
			require.Equal(t, c >= ' ' && c <= '~', plainASCII(string(b)), "%q", b)
			require.Equal(t, printable(string(b[at:at+1])+"       "), printable(string(b)), "%q", b)
		}
	}
}
