// Program pdata reads OTLP JSON lines of standard input with the unmarshalers of the
// OpenTelemetry Collector, as JSON and, after a round trip, as protobuf, and prints what it found.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"os"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		if bytes.HasPrefix(in.Bytes(), []byte(`{"resourceLogs"`)) {
			data, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(in.Bytes())
			check(err)
			for _, r := range data.ResourceLogs().All() {
				for _, s := range r.ScopeLogs().All() {
					for _, l := range s.LogRecords().All() {
						name, _ := l.Attributes().Get("gen_ai.evaluation.name")
						fmt.Println("log", l.EventName(), l.TraceID(), l.SpanID(), name.Str())
					}
				}
			}
			continue
		}
		data, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(in.Bytes())
		check(err)
		wire, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(data)
		check(err)
		data, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(wire)
		check(err)
		for _, r := range data.ResourceSpans().All() {
			for _, s := range r.ScopeSpans().All() {
				for _, span := range s.Spans().All() {
					n, _ := span.Attributes().Get("gen_ai.usage.input_tokens")
					fmt.Println("span", span.TraceID(), span.SpanID(), span.ParentSpanID(), span.Kind(), span.Name(), n.Int())
				}
			}
		}
	}
	check(in.Err())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
