package otlp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	resources "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// batch is the number of spans and log records that are sent together.
const batch = 512

// Sink takes batches of an Exporter: a file or a collector.
type Sink interface {
	Traces(context.Context, *trace.TracesData) error
	Logs(context.Context, *logs.LogsData) error
}

// Exporter writes the episodes of a run as traces: a span of the agent with one of each model
// call and of each executed tool call, and what was judged as log records. Ids are digests of the
// run's id and the episode's place, so the same run has the same ids. It is not safe for
// concurrent use.
type Exporter struct {
	to       Sink
	m        manifest.Manifest
	requests map[string]string
	spans    []*trace.Span
	records  []*logs.LogRecord
	// Spans and Records count what was written.
	Spans, Records int
}

// NewExporter returns an Exporter of m's run.
func NewExporter(m manifest.Manifest, to Sink) *Exporter {
	e := &Exporter{to: to, m: m, requests: map[string]string{}}
	for _, t := range m.Tasks {
		e.requests[t.ID] = t.Request
	}
	return e
}

// Add writes an episode.
func (e *Exporter) Add(ctx context.Context, rows ledger.EpisodeRows) error {
	id := digest(16, "trace", e.m.RunID, rows.Episode.TaskID, rows.Episode.Candidate, fmt.Sprint(rows.Episode.Trial))
	root := e.agent(id, &rows.Episode)
	e.spans = append(e.spans, root)
	for i := range rows.Turns {
		e.spans = append(e.spans, turnSpan(root, &rows.Turns[i]))
	}
	for i := range rows.ToolCalls {
		if c := &rows.ToolCalls[i]; c.Executed {
			e.spans = append(e.spans, callSpan(root, c))
		}
	}
	e.judged(root, &rows.Episode)
	if len(e.spans)+len(e.records) < batch {
		return nil
	}
	return e.flush(ctx)
}

// Verdict writes the verdict on a candidate of the run, which belongs to no span.
func (e *Exporter) Verdict(candidate, verdict, why string) {
	e.records = append(e.records, record(nil, attrs{
		{attrEvalName, "cupel.verdict"}, {attrEvalLabel, verdict}, {attrEvalWhy, why}, {attrCandidate, candidate}, {attrRun, e.m.RunID},
	}))
}

// Close writes what is left.
func (e *Exporter) Close(ctx context.Context) error { return e.flush(ctx) }

// flush writes the spans and records so far, in batches.
func (e *Exporter) flush(ctx context.Context) error {
	from := &resources.Resource{Attributes: attrs{{"service.name", "cupel"}, {"service.version", e.m.CodeVersion}, {attrRun, e.m.RunID}, {"cupel.suite", e.m.Suite}}.list()}
	scope := &common.InstrumentationScope{Name: "github.com/cupel-eval/cupel"}
	for len(e.spans) > 0 {
		n := min(len(e.spans), batch)
		data := &trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{Resource: from, ScopeSpans: []*trace.ScopeSpans{{Scope: scope, Spans: e.spans[:n]}}}}}
		if err := e.to.Traces(ctx, data); err != nil {
			return err
		}
		e.spans, e.Spans = e.spans[n:], e.Spans+n
	}
	for len(e.records) > 0 {
		n := min(len(e.records), batch)
		data := &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{Resource: from, ScopeLogs: []*logs.ScopeLogs{{Scope: scope, LogRecords: e.records[:n]}}}}}
		if err := e.to.Logs(ctx, data); err != nil {
			return err
		}
		e.records, e.Records = e.records[n:], e.Records+n
	}
	return nil
}

// digest returns the first bytes of the SHA-256 of parts.
func digest(size int, parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:size]
}

// attrs are attributes in order; those that are empty or nil are left out.
type attrs []struct {
	name  string
	value any
}

func (a attrs) list() (out []*common.KeyValue) {
	for _, attr := range a {
		v := &common.AnyValue{}
		switch value := attr.value.(type) {
		case string:
			if value == "" {
				continue
			}
			v.Value = &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(value, "\uFFFD")}
		case []string:
			list := &common.ArrayValue{}
			for _, text := range value {
				list.Values = append(list.Values, &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: text}})
			}
			v.Value = &common.AnyValue_ArrayValue{ArrayValue: list}
		case *int64:
			if value == nil {
				continue
			}
			v.Value = &common.AnyValue_IntValue{IntValue: *value}
		case int32:
			v.Value = &common.AnyValue_IntValue{IntValue: int64(value)}
		case bool:
			v.Value = &common.AnyValue_BoolValue{BoolValue: value}
		case float64:
			v.Value = &common.AnyValue_DoubleValue{DoubleValue: value}
		default:
			continue
		}
		out = append(out, &common.KeyValue{Key: attr.name, Value: v})
	}
	return out
}

// usage are the token counts, which the conventions count with cached and reasoning tokens.
func usage(t ledger.Tokens) attrs {
	sum := func(total *int64, parts ...*int64) *int64 {
		if total == nil {
			return nil
		}
		all := *total
		for _, p := range parts {
			if p != nil {
				all += *p
			}
		}
		return &all
	}
	return attrs{
		{attrIn, sum(t.In, t.CacheRead, t.CacheWrite)}, {attrOut, sum(t.Out, t.Reasoning)},
		{attrCacheRead, t.CacheRead}, {attrCacheWrite, t.CacheWrite}, {attrReasoning, t.Reasoning},
	}
}

// saidBy is a text as a list of one message.
func saidBy(role, text string) string {
	if text == "" {
		return ""
	}
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	type message struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	out, _ := json.Marshal([]message{{role, []part{{"text", text}}}}) // texts can be marshalled
	return string(out)
}

// makeSpan makes a span from times in microseconds.
func makeSpan(parent *trace.Span, name string, kind trace.Span_SpanKind, start, us int64, list attrs) *trace.Span {
	s := &trace.Span{Name: name, Kind: kind, StartTimeUnixNano: uint64(max(start, 0)) * 1000, EndTimeUnixNano: uint64(max(start+us, start, 0)) * 1000, Attributes: list.list()}
	if parent != nil {
		s.TraceId, s.ParentSpanId = parent.TraceId, parent.SpanId
	}
	return s
}

// failed marks a span with the kind of its error.
func failed(s *trace.Span, kind, message string) {
	if kind != "" {
		s.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: message}
		s.Attributes = append(s.Attributes, attrs{{attrError, kind}}.list()...)
	}
}

// agent is the span of an episode.
func (e *Exporter) agent(id []byte, row *ledger.Episode) *trace.Span {
	s := makeSpan(nil, "invoke_agent "+row.Candidate, trace.Span_SPAN_KIND_INTERNAL, row.TsStart, row.Micros(), append(attrs{
		{attrOperation, opInvokeAgent}, {attrAgentName, row.Candidate}, {attrProvider, row.Provider}, {attrModel, row.Model}, {attrConversation, row.EpisodeID},
		{attrRun, e.m.RunID}, {attrTask, row.TaskID}, {attrCandidate, row.Candidate}, {attrTrial, row.Trial}, {attrStrategy, row.Agent},
		{attrStatus, strings.TrimSpace(row.Status + " " + row.StopReason)}, {attrCost, row.CostNanoUSD},
		{attrInput, saidBy("user", e.requests[row.TaskID])}, {attrOutput, saidBy("assistant", row.Answer)},
	}, usage(row.Tokens)...))
	s.TraceId, s.SpanId = id, digest(8, "agent", string(id))
	if row.Excluded() != "" && row.Excluded() != manifest.NotScored {
		failed(s, row.Excluded(), row.ErrorText)
	}
	return s
}

func turnSpan(root *trace.Span, t *ledger.Turn) *trace.Span {
	list := append(attrs{
		{attrOperation, opChat}, {attrProvider, t.Provider}, {attrModel, t.Model}, {attrServed, t.ModelServed}, {attrTurn, t.Turn}, {attrRole, t.Role},
		{attrCost, t.CostNanoUSD}, {attrReported, t.CostReportedNanoUSD},
	}, usage(t.Tokens)...)
	if t.FinishReason != "" {
		list = append(list, attrs{{attrFinish, []string{t.FinishReason}}}...)
	}
	if t.TTFTUs != nil {
		list = append(list, attrs{{attrFirstChunk, float64(*t.TTFTUs) / 1e6}}...)
	}
	s := makeSpan(root, "chat "+t.Model, trace.Span_SPAN_KIND_CLIENT, t.TsStart, t.Micros(), list)
	s.SpanId = digest(8, "turn", hex.EncodeToString(root.TraceId), fmt.Sprint(t.Turn))
	failed(s, t.ErrorKind, t.Reason)
	return s
}

func callSpan(root *trace.Span, c *ledger.ToolCall) *trace.Span {
	s := makeSpan(root, "execute_tool "+c.ToolName, trace.Span_SPAN_KIND_INTERNAL, c.TsStart, c.DurationUs, attrs{
		{attrOperation, opTool}, {attrToolName, c.ToolName}, {attrToolID, c.ActionID}, {attrTurn, c.Turn}, {attrProposed, c.Proposed},
	})
	s.SpanId = digest(8, "call", hex.EncodeToString(root.TraceId), fmt.Sprint(c.Seq))
	if c.Outcome != string(tool.OK) {
		failed(s, strings.TrimSpace(c.Outcome+" "+c.ErrorCode), "")
	}
	return s
}

// judged adds a record of the episode's outcome and of each of its checks.
func (e *Exporter) judged(root *trace.Span, row *ledger.Episode) {
	if row.Excluded() != "" {
		return
	}
	add := func(name string, passed bool, why string) {
		score, label := 0.0, "fail"
		if passed {
			score, label = 1, "pass"
		}
		e.records = append(e.records, record(root, attrs{{attrEvalName, name}, {attrEvalValue, score}, {attrEvalLabel, label}, {attrEvalWhy, why}}))
	}
	add("solved", row.Solved, "")
	for _, c := range row.Checks {
		add(c.Name, c.Passed, c.Detail)
	}
	if row.Harm != nil {
		add("no harm", !*row.Harm, row.HarmReason)
	}
}

// record is a result of an evaluation, at the end of what was evaluated.
func record(of *trace.Span, list attrs) *logs.LogRecord {
	r := &logs.LogRecord{EventName: eventEvaluation, SeverityNumber: logs.SeverityNumber_SEVERITY_NUMBER_INFO, Attributes: list.list()}
	if of != nil {
		r.TraceId, r.SpanId, r.TimeUnixNano = of.TraceId, of.SpanId, of.EndTimeUnixNano
	}
	return r
}
