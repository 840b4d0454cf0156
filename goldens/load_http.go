package goldens

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
)

var (
	httpFields   = []string{"method", "url", "headers", "json", "timeout", "max_bytes"}
	headerFields = []string{"env", "prefix"}
	httpMethods  = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
)

// What an HTTP tool has unless it says otherwise, and the most it may ask for.
const (
	defaultTimeout  = 10 * time.Second
	defaultMaxBytes = 1 << 20
	mostBytes       = 16 << 20
)

// readUse reads how a tool is run and who approves of its calls.
func readUse(s *Suite, o object, spec tool.Spec) {
	writes := false
	if p, ok := o.get("http"); ok {
		h := httpTool(p, spec)
		if s.HTTP == nil {
			s.HTTP = map[string]HTTPTool{}
		}
		s.HTTP[spec.Name] = h
		writes = h.Method != http.MethodGet
	}
	if p, ok := o.get("write"); ok {
		writes = p.flag()
	}
	approve := ApproveAlways
	if writes {
		approve = ApproveAsk
	}
	if p, ok := o.get("approve"); ok {
		approve = Approval(p.choice(approvals...))
	}
	if approve != ApproveAlways {
		if s.Approvals == nil {
			s.Approvals = map[string]Approval{}
		}
		s.Approvals[spec.Name] = approve
	}
}

func httpTool(p place, spec tool.Spec) HTTPTool {
	o := p.object(httpFields)
	h := HTTPTool{Method: http.MethodGet, Timeout: defaultTimeout, MaxBytes: defaultMaxBytes}
	if p, ok := o.get("method"); ok {
		h.Method = p.choice(httpMethods...)
	}
	if p, ok := o.need("url"); ok {
		setAddress(p, &h, spec)
	}
	if p, ok := o.get("headers"); ok {
		for _, e := range p.entries() {
			h.Headers = append(h.Headers, header(e, h.Headers))
		}
	}
	if p, ok := o.get("json"); ok {
		h.JSON = p.choice("args") == "args"
		if h.Method == http.MethodGet {
			p.failf("a GET has no body: give a method such as POST")
		}
	}
	if p, ok := o.get("timeout"); ok {
		h.Timeout = p.duration()
	}
	if p, ok := o.get("max_bytes"); ok {
		h.MaxBytes = p.integer(1, mostBytes)
	}
	return h
}

// setAddress reads the URL template and checks it against the tool's arguments.
func setAddress(p place, h *HTTPTool, spec tool.Spec) {
	text := p.filled()
	if text == "" {
		return
	}
	all, needed, err := h.SetURL(text)
	if err != nil {
		p.failf("%v", err)
		return
	}
	schema, _ := decodeJSON(spec.Schema).(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range all {
		if _, ok := properties[name]; !ok {
			p.failf("the tool's schema has no property %q", name)
		} else if slices.Contains(needed, name) && !slices.Contains(required, any(name)) {
			p.failf("{%s} stands in the path, so the tool's schema must require it", name)
		}
	}
}

// ownHeaders are those that the transport or the harness sets.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Accept-Encoding",
	"Te", "Trailer", "Upgrade", "X-Run-Id", "X-Step-Id", "X-Parent-Step", "X-Idempotency-Key"}

func header(e entry, before []HTTPHeader) HTTPHeader {
	h := HTTPHeader{Name: http.CanonicalHeaderKey(e.key)}
	switch {
	case !headerName.MatchString(e.key):
		e.keyAt.failf("%q is not the name of a header", e.key)
	case slices.Contains(ownHeaders, h.Name):
		e.keyAt.failf("the header %s is set by cupel itself", h.Name)
	case slices.ContainsFunc(before, func(b HTTPHeader) bool { return b.Name == h.Name }):
		e.keyAt.failf("the header %s is here already", h.Name)
	}
	if !e.value.isMapping() {
		if h.Value = e.value.filled(); !headerText.MatchString(h.Value) {
			e.value.failf("must be printable ASCII")
		}
		if secretName.MatchString(h.Name) {
			e.value.failf("a credential belongs in the environment: write {env: NAME}")
		}
		return h
	}
	o := e.value.object(headerFields)
	if p, ok := o.need("env"); ok {
		if h.Env = p.filled(); h.Env != "" && !envName.MatchString(h.Env) {
			p.failf("must be the name of an environment variable, never the key itself")
		}
	}
	if p, ok := o.get("prefix"); ok {
		if h.Prefix = strings.TrimLeft(p.filled(), " "); !headerText.MatchString(h.Prefix) || len(h.Prefix) > 20 {
			p.failf("must be at most 20 characters of printable ASCII, such as \"Bearer \"")
		}
	}
	return h
}
