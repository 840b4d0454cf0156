package load

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/world"
)

var (
	httpFields  = []string{"method", "url", "headers", "json", "timeout", "max_bytes"}
	httpMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
)

// What an HTTP tool has unless it says otherwise, and the most it may ask for.
const (
	defaultTimeout  = 10 * time.Second
	defaultMaxBytes = 1 << 20
	mostBytes       = 16 << 20
)

// readUse reads how a tool is run and who approves of its calls.
func readUse(s *goldens.Suite, o yamlfile.Object, spec tool.Spec) {
	writes := false
	if p, ok := o.Get("http"); ok {
		h := httpTool(p, spec)
		put(&s.HTTP, spec.Name, h)
		writes = h.Method != http.MethodGet
	}
	readFixed(s, o, spec.Name)
	yamlfile.Read(o, "write", &writes, yamlfile.Place.Flag)
	approve := cmp.Or(goldens.Approval(spec.Approval), goldens.ApproveAlways)
	if writes {
		approve = goldens.ApproveAsk
	}
	words := []string{string(goldens.ApproveAlways), string(goldens.ApproveAsk), string(goldens.ApproveNever)}
	yamlfile.Read(o, "approve", &approve, func(p yamlfile.Place) goldens.Approval { return goldens.Approval(p.Choice(words...)) })
	if approve != goldens.ApproveAlways {
		put(&s.Approvals, spec.Name, approve)
	}
}

// readFixed reads the result of a tool that is judged but not run.
func readFixed(s *goldens.Suite, o yamlfile.Object, name string) {
	result, given := o.Get("result")
	p, ok := o.Get("run")
	switch {
	case ok && p.Choice("never") == "":
	case !ok && given:
		result.Failf("only a tool with run: never has a fixed result")
	case ok && (o.Has("http") || o.Has("rules")):
		p.Failf("a tool that is never run has neither http nor rules")
	case ok:
		put(&s.Fixed, name, json.RawMessage("null"))
		if given {
			s.Fixed[name] = result.JSON()
		}
	}
}

func httpTool(p yamlfile.Place, spec tool.Spec) world.HTTPTool {
	o := p.Object(httpFields)
	h := world.HTTPTool{Method: http.MethodGet, Timeout: defaultTimeout, MaxBytes: defaultMaxBytes}
	yamlfile.Read(o, "method", &h.Method, func(p yamlfile.Place) string { return p.Choice(httpMethods...) })
	if p, ok := o.Need("url"); ok {
		setAddress(p, &h, spec)
	}
	yamlfile.Read(o, "headers", &h.Headers, toolserver.Headers)
	if p, ok := o.Get("json"); ok {
		h.JSON = p.Choice("args") == "args"
		if h.Method == http.MethodGet {
			p.Failf("a GET has no body: give a method such as POST")
		}
	}
	yamlfile.Read(o, "timeout", &h.Timeout, yamlfile.Place.Duration)
	yamlfile.Read(o, "max_bytes", &h.MaxBytes, func(p yamlfile.Place) int64 { return p.Integer(1, mostBytes) })
	return h
}

// setAddress reads the URL template and checks it against the tool's arguments.
func setAddress(p yamlfile.Place, h *world.HTTPTool, spec tool.Spec) {
	text := p.Filled()
	if text == "" {
		return
	}
	all, needed, err := h.SetURL(text)
	if err != nil {
		p.Failf("%v", err)
		return
	}
	schema, _ := yamlfile.DecodeJSON(spec.Schema).(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range all {
		if _, ok := properties[name]; !ok {
			p.Failf("the tool's schema has no property %q", name)
		} else if slices.Contains(needed, name) && !slices.Contains(required, any(name)) {
			p.Failf("{%s} is in the path, so the tool's schema must require it", name)
		}
	}
}
