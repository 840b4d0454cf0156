package otlp

import (
	"cmp"
	"strings"

	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// aside reports whether a model call is not one of the agent's decisions, such as a title for the
// conversation.
func aside(s *span) bool {
	return s.text("query_source_safe", "query_source") == "generate_session_title"
}

// turnOf converts a model call.
func turnOf(s *span) imports.Turn {
	t := imports.Turn{
		Start: s.start / 1000, End: s.end / 1000, Served: s.text(namesServed...), TraceID: s.trace, SpanID: s.id,
		Tokens: tokens(s), CostNanoUSD: s.int(attrCost), CostReportedNanoUSD: s.int(attrReported), Said: said(s), Role: s.text(attrRole),
	}
	if aside(s) {
		t.Role = "aside"
	}
	if n := s.int("attempt"); n != nil && *n < 1<<20 {
		t.Attempts = int(*n)
	}
	if n := s.number("cost_usd"); n != nil && t.CostReportedNanoUSD == nil {
		t.CostReportedNanoUSD = new(int64(*n*1e9 + 0.5))
	}
	switch reasons := s.first(namesFinish...).(type) {
	case string:
		t.Finish = reasons
	case []any:
		if len(reasons) > 0 {
			t.Finish, _ = reasons[0].(string)
		}
	}
	if n := s.number(attrFirstChunk); n != nil {
		t.TTFTUs = new(int64(*n * 1e6))
	} else if n := s.number(namesMillis...); n != nil {
		t.TTFTUs = new(int64(*n * 1e3))
	}
	if success, known := s.attrs["success"].(bool); s.failed || known && !success {
		t.Failed = cmp.Or(s.message, s.text(namesError...), "the trace says that the call failed")
	}
	return t
}

// tokens reads the usage as disjoint classes. Most vocabularies count cached tokens among the
// input and reasoning among the output; that of the Claude Agent SDK counts cached ones apart.
func tokens(s *span) ledger.Tokens {
	t := ledger.Tokens{In: s.int(namesIn...), Out: s.int(namesOut...), CacheRead: s.int(namesCacheRead...), CacheWrite: s.int(namesCacheWrite...), Reasoning: s.int(namesReasoning...)}
	less := func(total *int64, parts ...*int64) {
		if total == nil {
			return
		}
		rest := *total
		for _, p := range parts {
			if p != nil {
				rest -= *p
			}
		}
		if rest >= 0 { // else the parts are counted apart
			*total = rest
		}
	}
	if !strings.HasPrefix(s.name, "claude_code.") {
		less(t.In, t.CacheRead, t.CacheWrite)
	}
	less(t.Out, t.Reasoning)
	return t
}

// callOf converts a tool call. Its turn is the one that asked for a call of its id, else the last
// that began before it.
func callOf(s *span, turns []imports.Turn) imports.Call {
	c := imports.Call{
		Name: s.text(namesTool...), ID: s.text(namesToolID...), Start: s.start / 1000, End: s.end / 1000,
		Args: s.known(namesArgs...), Result: s.known(namesResult...),
	}
	for i := range turns {
		if turns[i].Start <= c.Start && turns[i].Role != "aside" {
			c.Turn = i + 1
		}
	}
	if n := s.int(attrTurn); n != nil && *n <= int64(len(turns)) {
		c.Turn, c.Proposed = int(*n), s.first(attrProposed) == true
	}
	for i := range turns {
		for _, p := range turns[i].Said.Calls {
			if c.ID != "" && p.ID == c.ID {
				c.Turn, c.Proposed = i+1, true
			}
		}
	}
	if success, _ := textOf(s.first("success")); s.failed || success == "false" {
		c.Failed = cmp.Or(s.message, s.text(namesError...), "the trace says that the call failed")
	}
	return c
}

// n8nKind is what a node of n8n stands for, by its type.
func n8nKind(node string) kind {
	name := node[strings.LastIndex(node, ".")+1:]
	switch {
	case !strings.Contains(node, "langchain"):
		return other
	case strings.HasPrefix(name, "lmChat"), strings.HasPrefix(name, "lm"):
		return chatSpan
	case strings.HasSuffix(name, "Tool"), strings.HasPrefix(name, "tool"):
		return toolSpan
	}
	return other
}
