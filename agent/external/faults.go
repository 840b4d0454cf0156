package external

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Bounds of the settings.
const (
	maxOutput = 1_000_000
	maxRules  = 100
	maxWait   = 24 * time.Hour
)

var (
	envName    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	headerText = lazyregexp.New(`^[ -~]*$`)
	secretName = lazyregexp.New(`(?i)auth|key|token|secret|passw|cookie|credential|signature`)
	// Template matches a placeholder; its group is the name.
	Template = lazyregexp.New(`\{\{\s*([^{}]*?)\s*\}\}`)
)

// Faults reports everything that is wrong with the values of the settings, by the name of the
// setting. With required, that there is not exactly one way to reach the agent is a fault,
// too.
func (s Settings) Faults(required bool, report func(field, detail string)) {
	var ways []string
	for _, name := range s.Set() {
		if slices.Contains(Fields[:3], name) {
			ways = append(ways, name)
		}
	}
	switch {
	case len(ways) > 1:
		report(ways[1], "is set beside "+ways[0]+"; an agent is reached by one of exec, http and n8n")
	case len(ways) == 0 && required:
		report("exec", "is missing; set one of exec, http and n8n")
	}
	for _, way := range ways {
		switch way {
		case "exec":
			s.Exec.faults(func(detail string) { report(way, detail) })
		case "http":
			s.HTTP.faults(false, func(detail string) { report(way, detail) })
		case "n8n":
			s.N8N.faults(true, func(detail string) { report(way, detail) })
		}
	}
	s.Proxy.faults(func(detail string) { report("proxy", detail) })
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		if n := s.Models[name].MaxOutput; n < 0 || n > maxOutput {
			report("models", fmt.Sprintf("max_output of %.80q must be from 1 to %d, but is %d", name, maxOutput, n))
		}
	}
	s.ruleFaults(report)
	s.correlationFaults(ways, report)
}

func (e Exec) faults(add func(string)) {
	switch {
	case len(e.Command) == 0 || strings.TrimSpace(e.Command[0]) == "":
		add("command is missing; write a list of the program and its arguments, such as [python3, ./agent.py]")
	case len(Template.FindString(e.Command[0])) > 0:
		add("command must begin with a program, not with a placeholder")
	}
	for i, arg := range e.Command {
		names := Template.FindAllStringSubmatch(arg, -1)
		switch {
		case strings.ContainsRune(arg, 0):
			add(fmt.Sprintf("command[%d] has a zero byte", i))
		case i == 0 || names == nil:
		case names[0][1] != "request":
			add(fmt.Sprintf("command[%d]: only {{request}} may be an argument; {{%.40s}} is in the environment or on standard input, because other users can read arguments", i, names[0][1]))
		case names[0][0] != arg:
			add(fmt.Sprintf("command[%d]: {{request}} must be the whole argument, but is part of %.80q", i, arg))
		}
	}
	for _, entry := range e.Env {
		name, value, given := strings.Cut(entry, "=")
		switch {
		case !envName.MatchString(name):
			add(fmt.Sprintf("env: %.80q is not the name of an environment variable, or NAME=value", entry))
		case slices.Contains(OwnVariables, name):
			add("env: " + name + " is set by cupel itself")
		case given && secretName.MatchString(name):
			add("env: " + name + " would contain a credential; write its name alone, and the value comes from cupel's environment")
		case strings.ContainsRune(value, 0):
			add("env: " + name + " has a zero byte")
		}
	}
}

func (h HTTP) faults(n8n bool, add func(string)) {
	addressFault(add, "url", h.URL, true, func(name string) bool { return name == "session_id" })
	if h.Method != "" && !slices.Contains([]string{"GET", "POST", "PUT", "PATCH"}, h.Method) {
		add(fmt.Sprintf("method must be one of GET, POST, PUT and PATCH, but is %.40q", h.Method))
	}
	if h.Method == get && h.Body != nil {
		add("body: a GET has none; use method POST")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
		headerFault(add, name, h.Headers[name])
	}
	if _, err := json.Marshal(h.Body); err != nil {
		add("body cannot be written as JSON")
	} else {
		bodyFaults(add, "body", h.Body)
	}
	for _, p := range []struct{ name, pointer string }{{"answer", h.Answer}, {"stream.delta", h.Stream.Delta}} {
		if p.pointer != "" && p.pointer[0] != '/' {
			add(p.name + " must be a JSON pointer such as /output")
		}
	}
	if h.Stream.Delta != "" && (h.Answer != "" || h.Poll != Poll{}) {
		add("stream.delta is the answer; leave out answer and poll")
	}
	h.Poll.faults(add)
	addressFault(add, "ready.url", h.Ready.URL, h.Ready != Ready{} && !n8n, func(string) bool { return false })
	if m := h.Ready.Method; m != "" && !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "POST"}, m) {
		add(fmt.Sprintf("ready.method must be one of GET, HEAD, OPTIONS and POST, but is %.40q", m))
	}
	if n := h.Ready.Status; n != 0 && (n < 100 || n > 599) {
		add(fmt.Sprintf("ready.status must be from 100 to 599, but is %d", n))
	}
	waitFault(add, "ready.within", h.Ready.Within)
	if !slices.Contains([]string{"", HistorySent, OwnState}, h.Conversation) {
		add(fmt.Sprintf("conversation must be %s or %s, but is %.40q", HistorySent, OwnState, h.Conversation))
	}
}

func (p Poll) faults(add func(string)) {
	if (p == Poll{}) {
		return
	}
	addressFault(add, "poll.url", p.URL, true, func(name string) bool { return name == "session_id" || strings.HasPrefix(name, "/") })
	if !strings.HasPrefix(p.Until, "/") {
		add("poll.until must be a JSON pointer, or one with a value, such as /status=completed")
	}
	waitFault(add, "poll.every", p.Every)
	waitFault(add, "poll.timeout", p.Timeout)
}

func waitFault(add func(string), field string, d time.Duration) {
	if d < 0 || d > maxWait {
		add(fmt.Sprintf("%s must be at most %v, but is %v", field, maxWait, d))
	}
}

// addressFault reports an address that is not valid, or that has a placeholder it may not have.
func addressFault(add func(string), field, address string, required bool, may func(name string) bool) {
	if address == "" {
		if required {
			add(field + " is missing")
		}
		return
	}
	for _, m := range Template.FindAllStringSubmatch(address, -1) {
		if !may(m[1]) {
			add(fmt.Sprintf("%s cannot have the placeholder {{%.40s}}", field, m[1]))
		}
	}
	u, err := url.Parse(Template.ReplaceAllString(address, "x"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		add(field + " must be an http or https address without a user name")
	}
}

// headerPlaceholders may be written in headers: short values that identify an episode and its
// addresses, and no text of the task.
var headerPlaceholders = []string{"session_id", "base_url", "openai_base_url", "api_key", "mcp_url", "traceparent"}

func headerFault(add func(string), name, value string) {
	found := Template.FindAllStringSubmatch(value, -1)
	switch {
	case !headerName.MatchString(name):
		add(fmt.Sprintf("headers: %.80q is not a valid header name", name))
	case !headerText.MatchString(value):
		add("headers: " + name + " must be printable ASCII")
	case found == nil && secretName.MatchString(name):
		add("headers: " + name + " would contain a credential; write {{env.NAME}}, or {{api_key}} for the episode's own")
	}
	for _, m := range found {
		env, isEnv := strings.CutPrefix(m[1], "env.")
		if isEnv && !envName.MatchString(env) || !isEnv && !slices.Contains(headerPlaceholders, m[1]) {
			add(fmt.Sprintf("headers: %s cannot have the placeholder {{%.40s}}; it may have env.NAME, %s", name, m[1], strings.Join(headerPlaceholders, ", ")))
		}
	}
}

// bodyFaults reports placeholders that are unknown, or not a whole value.
func bodyFaults(add func(string), at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			bodyFaults(add, at+"."+key, v[key])
		}
	case []any:
		for i, e := range v {
			bodyFaults(add, at+"["+strconv.Itoa(i)+"]", e)
		}
	case string:
		m := Template.FindStringSubmatch(v)
		switch {
		case m == nil:
		case m[0] != v:
			add(fmt.Sprintf("%s: {{%.40s}} must be the whole value, but is part of %.80q", at, m[1], v))
		case !slices.Contains(Placeholders, m[1]):
			add(fmt.Sprintf("%s: unknown placeholder {{%.40s}}; known: %s", at, m[1], strings.Join(Placeholders, ", ")))
		}
	}
}

func (p Proxy) faults(add func(string)) {
	host, port, err := net.SplitHostPort(p.Listen)
	if n, number := strconv.Atoi(port); p.Listen != "" && (err != nil || number != nil || n < 0 || n > 65535) {
		add(fmt.Sprintf("listen must be host:port such as 127.0.0.1:4100, but is %.80q", p.Listen))
	} else if ip := net.ParseIP(host); p.Listen != "" && p.Advertise == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		add("listen binds every address of this machine; set advertise to the URL by which agents reach it")
	}
	if p.Advertise != "" {
		addressFault(add, "advertise", p.Advertise, false, func(string) bool { return false })
	}
	if p.TokenEnv != "" && !envName.MatchString(p.TokenEnv) {
		add("token_env must be the name of an environment variable, never the token itself")
	}
}

func (s Settings) ruleFaults(report func(field, detail string)) {
	for _, pointer := range s.Ignore {
		if !strings.HasPrefix(pointer, "/") {
			report("ignore", fmt.Sprintf("%.80q is not a JSON pointer such as /metadata/session", pointer))
		}
	}
	for _, pattern := range s.Replace {
		if re, err := regexp.Compile(pattern); err != nil {
			report("replace", fmt.Sprintf("%.80q is not a regular expression: %v", pattern, err))
		} else if re.MatchString("") {
			report("replace", fmt.Sprintf("%.80q matches the empty text", pattern))
		}
	}
	for _, rules := range []struct {
		name string
		n    int
	}{{"ignore", len(s.Ignore)}, {"replace", len(s.Replace)}} {
		if rules.n > maxRules {
			report(rules.name, fmt.Sprintf("has %d rules; %d are allowed", rules.n, maxRules))
		}
	}
}

// correlationFaults reports a service that could not tell cupel which episode it works on.
func (s Settings) correlationFaults(ways []string, report func(field, detail string)) {
	if !slices.Contains([]string{"", ByURL, ByKey, ByTraceparent, ByNothing}, s.Correlate) {
		report("correlate", fmt.Sprintf("must be url, key, traceparent or none, but is %.40q", s.Correlate))
		return
	}
	if len(ways) != 1 {
		return
	}
	if ways[0] == "exec" {
		if s.Correlate != "" && s.Correlate != ByURL {
			report("correlate", "a command of exec gets its own URL; leave correlate out")
		}
		return
	}
	h, _ := s.Service()
	sends := func(names ...string) bool {
		text, _ := json.Marshal([]any{h.Body, h.Headers})
		return slices.ContainsFunc(Template.FindAllStringSubmatch(string(text), -1), func(m []string) bool { return slices.Contains(names, m[1]) })
	}
	switch {
	case s.Correlate == "" || s.Correlate == ByURL:
		if !sends("base_url", "openai_base_url") {
			report("correlate", "the service is not sent its base URL; send {{base_url}} in body or headers, or set correlate to key, traceparent or none")
		}
		return
	case s.Correlate == ByKey && !sends("api_key"):
		report("correlate", "the service is not sent its key; send {{api_key}} in body or headers")
	}
	if s.Proxy.Listen == "" || s.Proxy.TokenEnv == "" {
		report("proxy", "is needed by correlate: "+s.Correlate+"; set proxy: {listen: 127.0.0.1:PORT, token_env: NAME} for a stable URL")
	}
}
