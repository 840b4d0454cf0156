package otlp

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/cupel-eval/cupel/internal/clip"
)

// span is a span of any source, and a log record that stands for one.
type span struct {
	trace, id, parent string
	name              string
	start, end        int64 // nanoseconds since the Unix epoch
	attrs             map[string]any
	failed            bool
	client            bool // its request goes to another program
	message           string
	// input and output are messages that events of older conventions carry one by one.
	input, output []any
	events        []event
	resource      *resource
	place         string
	kind          kind
	up            *span // the parent, if it is in the files
}

// resource is what emits spans. Its attributes may come after its spans in a file.
type resource struct{ attrs map[string]any }

// event is a span event or a log record.
type event struct {
	trace, span, name string
	at                int64
	attrs             map[string]any
	body              any
	resource          *resource
	place             string
}

// text returns the first attribute of these names that is a text, or any other value as JSON.
func (s *span) text(names ...string) string {
	text, _ := textOf(s.first(names...))
	return text
}

// known is text as a pointer; nil if no attribute has one of the names.
func (s *span) known(names ...string) *string {
	if text, ok := textOf(s.first(names...)); ok {
		return &text
	}
	return nil
}

func (s *span) first(names ...string) any {
	for _, n := range names {
		if v, ok := s.attrs[n]; ok {
			return v
		}
	}
	return nil
}

// number returns the first attribute of these names that is a number from 0 up.
func (s *span) number(names ...string) *float64 {
	for _, n := range names {
		switch v := s.attrs[n].(type) {
		case int64:
			if v >= 0 {
				return new(float64(v))
			}
		case float64:
			if v >= 0 && v < math.MaxInt64/1e9 {
				return &v
			}
		}
	}
	return nil
}

func (s *span) int(names ...string) *int64 {
	if n := s.number(names...); n != nil {
		return new(int64(*n))
	}
	return nil
}

// textOf returns a value as text: a text as it is, any other as JSON.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	}
	text, err := json.Marshal(v)
	return string(text), err == nil
}

// idText returns an id in hex. encoded says that it was read by protojson, which takes the hex
// digits of OTLP's JSON for base64.
func idText(id []byte, encoded bool) string {
	if encoded {
		return strings.ToLower(base64.StdEncoding.EncodeToString(id))
	}
	return hex.EncodeToString(id)
}

// checkID rejects an id that is not of this many bytes, or only zeros.
func checkID(what, id string, size int) error {
	if _, err := hex.DecodeString(id); err != nil || len(id) != 2*size || strings.Trim(id, "0") == "" {
		return fmt.Errorf("%s %s is not %d hex digits that are not all 0", what, quote(id), 2*size)
	}
	return nil
}

// quote shows untrusted text in a message.
func quote(text string) string { return fmt.Sprintf("%q", clip.Bytes(text, 60)) }

// newSpan converts a span and checks its ids and times.
func newSpan(p *trace.Span, encoded bool, r *resource) (*span, error) {
	s := &span{
		trace: idText(p.TraceId, encoded), id: idText(p.SpanId, encoded), parent: idText(p.ParentSpanId, encoded),
		name: p.Name, start: int64(p.StartTimeUnixNano), end: int64(p.EndTimeUnixNano), attrs: attributes(p.Attributes), resource: r,
		client: p.Kind == trace.Span_SPAN_KIND_CLIENT, failed: p.Status.GetCode() == trace.Status_STATUS_CODE_ERROR, message: p.Status.GetMessage(),
	}
	if strings.Trim(s.parent, "0") == "" {
		s.parent = ""
	}
	for _, e := range p.Events {
		s.events = append(s.events, event{name: e.Name, at: int64(e.TimeUnixNano), attrs: attributes(e.Attributes)})
	}
	if err := checkID("trace id", s.trace, 16); err != nil {
		return s, err
	}
	if err := checkID("span id", s.id, 8); err != nil {
		return s, err
	}
	return s, s.checkTimes()
}

func (s *span) checkTimes() error {
	switch {
	case s.start <= 0 || s.end < 0:
		return fmt.Errorf("span %s: its start %d or end %d is not a time since 1970 in nanoseconds", quote(s.id), s.start, s.end)
	case s.end == 0:
		return fmt.Errorf("span %s has no end; export it after it has ended", quote(s.id))
	case s.end < s.start:
		return fmt.Errorf("span %s ends %d ns before it starts", quote(s.id), s.start-s.end)
	}
	return nil
}

// newEvent converts a log record.
func newEvent(p *logs.LogRecord, encoded bool, r *resource) event {
	e := event{
		trace: idText(p.TraceId, encoded), span: idText(p.SpanId, encoded), name: p.EventName, at: int64(p.TimeUnixNano),
		attrs: attributes(p.Attributes), body: value(p.Body, 0), resource: r,
	}
	if text, ok := e.attrs["event.name"].(string); ok && e.name == "" {
		e.name = text
	}
	if text, ok := e.body.(string); ok && e.name == "" {
		e.name = text
	}
	e.at = cmp.Or(e.at, int64(p.ObservedTimeUnixNano))
	return e
}

func attributes(list []*common.KeyValue) map[string]any {
	out := make(map[string]any, len(list))
	for _, kv := range list {
		if v := value(kv.GetValue(), 0); v != nil {
			out[kv.GetKey()] = v
		}
	}
	return out
}

// maxDepth bounds nested values.
const maxDepth = 32

// value converts an attribute; nil stands for an empty one and for what is nested too deep.
func value(v *common.AnyValue, depth int) any {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return strings.ToValidUTF8(v.StringValue, "\uFFFD")
	case *common.AnyValue_BoolValue:
		return v.BoolValue
	case *common.AnyValue_IntValue:
		return v.IntValue
	case *common.AnyValue_DoubleValue:
		return v.DoubleValue
	case *common.AnyValue_ArrayValue:
		list := []any{}
		for _, item := range v.ArrayValue.GetValues() {
			if depth < maxDepth {
				list = append(list, value(item, depth+1))
			}
		}
		return list
	case *common.AnyValue_KvlistValue:
		object := map[string]any{}
		for _, kv := range v.KvlistValue.GetValues() {
			if depth < maxDepth {
				object[kv.GetKey()] = value(kv.GetValue(), depth+1)
			}
		}
		return object
	}
	return nil
}
