package otlp

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resources "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
)

// TracesData and LogsData have the same outer fields:
//
//	1 resource…: {1 Resource, 2 scope…: {1 Scope, 2 Span or LogRecord}}
//
// A Span begins with its trace id, which is bytes, and a LogRecord with its time, which is
// fixed64. Walking these fields decodes one span at a time.

// protobuf reads TracesData or LogsData.
func (c decoder) protobuf(data []byte) error {
	n := 0
	return fields(data, 0, func(num protowire.Number, at int, value []byte) error {
		if num != 1 {
			return nil
		}
		r := &resource{}
		err := fields(value, at, func(num protowire.Number, at int, value []byte) error {
			switch num {
			case 1:
				var p resources.Resource
				if err := unmarshal(value, &p); err != nil {
					return fmt.Errorf("byte %d: %w", at, err)
				}
				r.attrs = attributes(p.Attributes)
			case 2:
				return fields(value, at, func(num protowire.Number, at int, value []byte) error {
					if num != 2 {
						return nil
					}
					n++
					return c.item(value, r, fmt.Sprintf("message %d at byte %d", n, at), c.protobufItem)
				})
			}
			return nil
		})
		return err
	})
}

// fields calls f for every field with a length, with its place in the file.
func fields(data []byte, base int, f func(num protowire.Number, at int, value []byte) error) error {
	for at := 0; at < len(data); {
		num, typ, n := protowire.ConsumeTag(data[at:])
		if n < 0 {
			return fmt.Errorf("byte %d: neither JSON nor the protobuf of traces or logs, or cut", base+at)
		}
		at += n
		size := protowire.ConsumeFieldValue(num, typ, data[at:])
		if size < 0 {
			return fmt.Errorf("byte %d: the protobuf is cut: field %d ends beyond the file", base+at, num)
		}
		if typ == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(data[at:])
			if err := f(num, base+at+size-len(value), value); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// protobufItem decodes a span or a log record.
func (c decoder) protobufItem(data jsontext.Value, r *resource, place string) error {
	num, typ, _ := protowire.ConsumeTag(data)
	if num == 1 && typ == protowire.BytesType {
		var p trace.Span
		if err := unmarshal(data, &p); err != nil {
			return err
		}
		return c.span(&p, false, r, place)
	}
	var p logs.LogRecord
	if err := unmarshal(data, &p); err != nil {
		return err
	}
	c.log(&p, false, r, place)
	return nil
}
