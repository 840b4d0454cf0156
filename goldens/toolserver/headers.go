package toolserver

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/settings"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
)

// ownHeaders are those that the transport or the harness sets.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Accept-Encoding",
	"Te", "Trailer", "Upgrade", "X-Run-Id", "X-Step-Id", "X-Parent-Step", "X-Idempotency-Key"}

// Headers reads the headers of a tool or a server.
func Headers(p yamlfile.Place) (all []world.HTTPHeader) {
	for _, e := range p.Entries() {
		all = append(all, header(e, all))
	}
	return all
}

func header(e yamlfile.Entry, before []world.HTTPHeader) world.HTTPHeader {
	h := world.HTTPHeader{Name: http.CanonicalHeaderKey(e.Key)}
	switch {
	case !yamlfile.HeaderName.MatchString(e.Key):
		e.KeyAt.Failf("%q is not the name of a header", e.Key)
	case slices.Contains(ownHeaders, h.Name):
		e.KeyAt.Failf("the header %s is set by cupel itself", h.Name)
	case slices.ContainsFunc(before, func(b world.HTTPHeader) bool { return b.Name == h.Name }):
		e.KeyAt.Failf("the header %s is here already", h.Name)
	}
	if !e.Value.IsMapping() {
		if h.Value = e.Value.Filled(); !yamlfile.HeaderText.MatchString(h.Value) {
			e.Value.Failf("must be printable ASCII")
		}
		if yamlfile.SecretName.MatchString(h.Name) {
			e.Value.Failf("a credential belongs in the environment: write {env: NAME}")
		}
		return h
	}
	o := e.Value.Object(settings.Names(reflect.TypeFor[world.HTTPHeader]()))
	if p, ok := o.Need("env"); ok {
		if h.Env = p.Filled(); h.Env != "" && !yamlfile.EnvName.MatchString(h.Env) {
			p.Failf("must be the name of an environment variable, never the key itself")
		}
	}
	if p, ok := o.Get("prefix"); ok {
		if h.Prefix = strings.TrimLeft(p.Filled(), " "); !yamlfile.HeaderText.MatchString(h.Prefix) || len(h.Prefix) > 20 {
			p.Failf("must be at most 20 characters of printable ASCII, such as \"Bearer \"")
		}
	}
	return h
}
