package bedrock

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// framed writes messages of three parts each: type header, name header and payload.
func framed(t testing.TB, parts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	for i := 0; i+2 < len(parts); i += 3 {
		name := map[string]string{"event": ":event-type", "exception": ":exception-type", "error": ":error-code"}[parts[i]]
		m := eventstream.Message{Payload: []byte(parts[i+2])}
		m.Headers.Set(":message-type", eventstream.StringValue(parts[i]))
		m.Headers.Set(name, eventstream.StringValue(parts[i+1]))
		if parts[i] == "error" {
			m.Headers.Set(":error-message", eventstream.StringValue("it went wrong"))
		}
		require.NoError(t, eventstream.NewEncoder().Encode(&out, m))
	}
	return out.Bytes()
}

// events writes events of two parts each: name and payload.
func events(t testing.TB, parts ...string) []byte {
	t.Helper()
	var out []byte
	for i := 0; i+1 < len(parts); i += 2 {
		out = append(out, framed(t, "event", parts[i], parts[i+1])...)
	}
	return out
}

// chunked writes the chunks of InvokeModelWithResponseStream.
func chunked(t testing.TB, bodies ...string) []byte {
	t.Helper()
	var out []byte
	for _, b := range bodies {
		out = append(out, framed(t, "event", "chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(b))+`","p":"abc"}`)...)
	}
	return out
}

func cut(r io.Reader) (frames []wire.Frame, err error) {
	err = eventStream.Cut(r, 1<<20, func(f wire.Frame) error { frames = append(frames, f); return nil })
	return frames, err
}

func TestFrames(t *testing.T) {
	body := events(t, "messageStart", `{"role":"assistant"}`, "messageStop", "")
	want := []wire.Frame{{Event: "messageStart", Data: `{"role":"assistant"}`}, {Event: "messageStop"}, {Event: streamEnd}}
	for name, r := range map[string]io.Reader{"at once": bytes.NewReader(body), "byte by byte": iotest.OneByteReader(bytes.NewReader(body)), "end with data": iotest.DataErrReader(bytes.NewReader(body))} {
		got, err := cut(r)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
}

func TestStarts(t *testing.T) {
	body := events(t, "messageStart", "{}")
	require.True(t, eventStream.Starts(body[:6], true))
	require.True(t, eventStream.Starts(body[:6], false))
	for _, text := range []string{"", `{"output":{}}`, "data: {}", "<html>"} {
		require.False(t, eventStream.Starts([]byte(text), true), text)
	}
}

func TestDamagedFrames(t *testing.T) {
	first, second := events(t, "messageStart", `{"role":"assistant"}`), events(t, "messageStop", `{"stopReason":"end_turn"}`)
	flipped := func(at int) []byte {
		b := append(bytes.Clone(first), second...)
		b[len(first)+at] ^= 1
		return b
	}
	odd := binary.BigEndian.AppendUint32(nil, 20)
	odd = binary.BigEndian.AppendUint32(odd, 1<<31)
	odd = binary.BigEndian.AppendUint32(odd, crc32.ChecksumIEEE(odd))
	for name, body := range map[string][]byte{
		"length":                      flipped(3),
		"checksum of the length":      flipped(9),
		"header":                      flipped(20),
		"payload":                     flipped(len(second) - 6),
		"checksum":                    flipped(len(second) - 1),
		"cut in the prelude":          append(bytes.Clone(first), second[:5]...),
		"cut in the headers":          append(bytes.Clone(first), second[:20]...),
		"cut in the payload":          append(bytes.Clone(first), second[:len(second)-8]...),
		"cut by one":                  append(bytes.Clone(first), second[:len(second)-1]...),
		"more headers than the whole": append(bytes.Clone(first), odd...),
	} {
		t.Run(name, func(t *testing.T) {
			frames, err := cut(bytes.NewReader(body))
			require.ErrorIs(t, err, wire.ErrBroken)
			require.Len(t, frames, 1)
		})
	}
}

// TestAMessageLongerThanIsTaken: the stated length is correct but above the limit, so
// the message is not reported as damaged.
func TestAMessageLongerThanIsTaken(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, 1<<24-1)
	long = binary.BigEndian.AppendUint32(long, 0)
	long = binary.BigEndian.AppendUint32(long, crc32.ChecksumIEEE(long))
	frames, err := cut(bytes.NewReader(append(events(t, "messageStart", "{}"), long...)))
	require.ErrorIs(t, err, bufio.ErrTooLong)
	require.NotErrorIs(t, err, wire.ErrBroken)
	require.Len(t, frames, 1)
}

func TestTheTransportsOwnError(t *testing.T) {
	reset := errors.New("connection reset")
	body := events(t, "messageStart", "{}")
	for _, at := range []int{0, 4, 30, len(body)} {
		_, err := cut(io.MultiReader(bytes.NewReader(body[:at]), iotest.ErrReader(reset)))
		require.ErrorIs(t, err, reset)
		require.NotErrorIs(t, err, wire.ErrBroken)
	}
}

func TestFaultsInTheStream(t *testing.T) {
	for _, c := range []struct {
		name string
		body []byte
		want wire.Fault
	}{
		{"exception", framed(t, "exception", "throttlingException", `{"message":"slow down"}`), wire.Fault{Type: "throttlingException", Message: "slow down"}},
		{"more fields", framed(t, "exception", "modelStreamErrorException", `{"message":"m","originalMessage":"o","originalStatusCode":500}`), wire.Fault{Type: "modelStreamErrorException", Message: "m"}},
		{"no message", framed(t, "exception", "internalServerException", `{}`), wire.Fault{Type: "internalServerException", Message: "{}"}},
		{"unnamed", framed(t, "error", "InternalError", ""), wire.Fault{Type: "InternalError", Message: "it went wrong"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cut(bytes.NewReader(append(events(t, "messageStart", "{}"), c.body...)))
			var f *wire.Fault
			require.ErrorAs(t, err, &f)
			require.Equal(t, c.want, *f)
		})
	}
}

func TestFramesHaveTheirOwnText(t *testing.T) {
	body := events(t, "a", strings.Repeat("x", 100), "b", strings.Repeat("y", 90))
	frames, err := cut(bytes.NewReader(body))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", 100), frames[0].Data)
}
