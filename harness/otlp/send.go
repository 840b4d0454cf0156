package otlp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cupel-eval/cupel/internal/clip"
)

// Lines writes OTLP as JSON lines. The same batches give the same bytes.
type Lines struct{ To io.Writer }

// Traces implements Sink.
func (l Lines) Traces(_ context.Context, d *trace.TracesData) error {
	d = proto.Clone(d).(*trace.TracesData)
	for _, r := range d.ResourceSpans {
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				s.TraceId, s.SpanId, s.ParentSpanId = jsonID(s.TraceId), jsonID(s.SpanId), jsonID(s.ParentSpanId)
			}
		}
	}
	return l.line(d)
}

// Logs implements Sink.
func (l Lines) Logs(_ context.Context, d *logs.LogsData) error {
	d = proto.Clone(d).(*logs.LogsData)
	for _, r := range d.ResourceLogs {
		for _, scope := range r.ScopeLogs {
			for _, rec := range scope.LogRecords {
				rec.TraceId, rec.SpanId = jsonID(rec.TraceId), jsonID(rec.SpanId)
			}
		}
	}
	return l.line(d)
}

// jsonID returns what protojson writes as the hex digits of an id: OTLP's JSON has these in place
// of base64.
func jsonID(id []byte) []byte {
	out, _ := base64.StdEncoding.DecodeString(hex.EncodeToString(id)) // hex digits are base64, by fours
	return out
}

func (l Lines) line(m proto.Message) error {
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil { // protojson varies its spaces
		return err
	}
	b.WriteByte('\n')
	_, err = l.To.Write(b.Bytes())
	return err
}

// Collector sends OTLP as protobuf over HTTP.
type Collector struct {
	base   *url.URL
	header http.Header
	client *http.Client
	pause  func(context.Context, time.Duration) error
}

// NewCollector returns a Collector at an http or https URL, to which /v1/traces and /v1/logs are
// added. headers are in the form of OTEL_EXPORTER_OTLP_HEADERS: NAME=VALUE, …, where values may
// be percent-encoded; they may be credentials, so they appear in no error. pause waits before a
// request is sent again.
func NewCollector(address, headers string, client *http.Client, pause func(context.Context, time.Duration) error) (*Collector, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("otlp: %.200q is not an http or https URL of a collector", address)
	}
	if base.User != nil {
		return nil, fmt.Errorf("otlp: the URL of the collector contains a password; use OTEL_EXPORTER_OTLP_HEADERS")
	}
	c := &Collector{base: base, header: http.Header{}, pause: pause}
	for i, pair := range strings.Split(headers, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: item %d is not NAME=VALUE", i+1)
		}
		c.header.Set(strings.TrimSpace(name), value)
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // headers may be credentials
	c.client = &own
	return c, nil
}

// Traces implements Sink.
func (c *Collector) Traces(ctx context.Context, d *trace.TracesData) error {
	return c.send(ctx, "/v1/traces", d)
}

// Logs implements Sink.
func (c *Collector) Logs(ctx context.Context, d *logs.LogsData) error {
	return c.send(ctx, "/v1/logs", d)
}

// Bounds of an export.
const (
	attempts    = 4
	maxPause    = 10 * time.Second
	maxResponse = 64 << 10
)

// send posts a batch, again if the collector is busy.
func (c *Collector) send(ctx context.Context, path string, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	target := c.base.JoinPath(path)
	if strings.HasSuffix(c.base.Path, "/v1/traces") {
		target = c.base.JoinPath("../..", path)
	}
	var status string
	for n := range attempts {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("otlp: %w", err)
		}
		req.Header = c.header.Clone()
		req.Header.Set("Content-Type", "application/x-protobuf")
		res, err := c.client.Do(req)
		if err != nil {
			return fmt.Errorf("otlp: %w; the run is complete, export it again with: cupel report RUN --otlp URL", err)
		}
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxResponse)) // of what is cut, the status remains
		_ = res.Body.Close()
		status = res.Status
		switch res.StatusCode {
		case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
			return partial(text)
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		default:
			return fmt.Errorf("otlp: %s answered %s: %s", target.Redacted(), status, clip.Bytes(strings.ToValidUTF8(string(text), "?"), 200))
		}
		wait := time.Second << n
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s >= 0 {
			wait = time.Duration(min(s, int(maxPause/time.Second))) * time.Second
		}
		if n < attempts-1 {
			if err := c.pause(ctx, wait); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("otlp: %s answered %s %d times; the run is complete, export it again with: cupel report RUN --otlp URL", target.Redacted(), status, attempts)
}

// partial is the error of a response that says that a part was refused: its field 1 has in 1 the
// number and in 2 the reason.
func partial(body []byte) error {
	var rejected uint64
	var why string
	_ = fields(body, 0, func(num protowire.Number, _ int, value []byte) error { // what is not protobuf says nothing
		for num == 1 && len(value) > 0 {
			n, typ, size := protowire.ConsumeTag(value)
			rest := protowire.ConsumeFieldValue(n, typ, value[max(size, 0):])
			if size < 0 || rest < 0 {
				return nil
			}
			switch data := value[size:]; {
			case n == 1 && typ == protowire.VarintType:
				rejected, _ = protowire.ConsumeVarint(data)
			case n == 2 && typ == protowire.BytesType:
				text, _ := protowire.ConsumeBytes(data)
				why = string(text)
			}
			value = value[size+rest:]
		}
		return nil
	})
	if rejected == 0 {
		return nil
	}
	return fmt.Errorf("otlp: the collector refused %d of a batch: %s", rejected, cmp.Or(clip.Bytes(strings.ToValidUTF8(why, "?"), 200), "it gives no reason"))
}
