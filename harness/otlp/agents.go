package otlp

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// agentsTurn is the name of the span of the OpenAI Agents SDK that has the usage of a turn.
const agentsTurn = "openai.agents.turn"

// agentsRecord is a line of the trace files of the OpenAI Agents SDK for JavaScript and Python.
type agentsRecord struct {
	Object    string         `json:"object"`
	ID        string         `json:"id"`
	TraceID   string         `json:"trace_id"`
	ParentID  string         `json:"parent_id"`
	GroupID   string         `json:"group_id"`
	Workflow  string         `json:"workflow_name"`
	StartedAt string         `json:"started_at"`
	EndedAt   string         `json:"ended_at"`
	Data      map[string]any `json:"span_data"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// agents reads a JSON object that is not OTLP as a record of the OpenAI Agents SDK.
func (c decoder) agents(members map[string]jsontext.Value, place string) error {
	if len(members) == 0 {
		return nil // an export without spans
	}
	if _, ok := members["object"]; !ok {
		return errors.New("neither OTLP (resourceSpans, resourceLogs) nor a trace of the OpenAI Agents SDK (object)")
	}
	if items, ok := members["data"]; ok { // a body that was sent to the traces endpoint
		return c.agentsList(items, place)
	}
	whole, err := json.Marshal(members)
	var r agentsRecord
	if err == nil {
		err = json.Unmarshal(whole, &r)
	}
	if err != nil {
		return err
	}
	switch r.Object {
	case "trace":
		if r.GroupID != "" {
			c.conversations[r.ID] = r.GroupID
		}
		return nil
	case "trace.span":
		return c.agentsSpan(r, place)
	}
	return fmt.Errorf("object %s is neither trace nor trace.span", quote(r.Object))
}

func (c decoder) agentsList(items jsontext.Value, place string) error {
	var list []map[string]jsontext.Value
	if err := json.Unmarshal(items, &list); err != nil {
		return err
	}
	for _, item := range list {
		if err := c.agents(item, place); err != nil {
			return err
		}
	}
	return nil
}

// agentsSpan converts a span to the names of the GenAI conventions.
func (c decoder) agentsSpan(r agentsRecord, place string) error {
	start, err1 := time.Parse(time.RFC3339, r.StartedAt)
	end, err2 := time.Parse(time.RFC3339, r.EndedAt)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("span %s: started_at is %s and ended_at %s, must be RFC 3339 times", quote(r.ID), quote(r.StartedAt), quote(r.EndedAt))
	}
	if r.ID == "" || r.TraceID == "" {
		return errors.New("a span needs id and trace_id")
	}
	d := r.Data
	kind := text(d["type"])
	inner, _ := d["data"].(map[string]any)
	if kind == "custom" && text(inner["sdk_span_type"]) != "" {
		kind, d = text(inner["sdk_span_type"]), inner
	}
	s := &span{trace: r.TraceID, id: r.ID, parent: r.ParentID, name: "openai.agents." + kind, start: start.UnixNano(), end: end.UnixNano(), attrs: map[string]any{}, resource: &resource{}, place: c.name + ": " + place}
	set := func(name string, v any) {
		if v != nil && v != "" {
			s.attrs[name] = v
		}
	}
	switch kind {
	case "turn", "response", "generation":
		set(attrOperation, opChat)
		set(attrProvider, "openai")
		set(attrModel, d["model"])
		set(attrResponseID, d["response_id"])
		set(attrInput, d["input"])
		set(attrOutput, d["output"])
		usage, _ := d["usage"].(map[string]any)
		for name, key := range map[string]string{attrIn: "input_tokens", attrOut: "output_tokens", attrCacheRead: "cached_input_tokens", attrCacheWrite: "cache_write_input_tokens"} {
			set(name, usage[key])
		}
	case "function":
		set(attrOperation, opTool)
		set(attrToolName, d["name"])
		set(attrToolArgs, d["input"])
		set(attrToolResult, d["output"])
	case "agent":
		set(attrOperation, opInvokeAgent)
		set(attrAgentName, d["name"])
	}
	if r.Error != nil {
		s.failed, s.message = true, r.Error.Message
	}
	if err := s.checkTimes(); err != nil {
		return err
	}
	c.spans = append(c.spans, s)
	return nil
}
