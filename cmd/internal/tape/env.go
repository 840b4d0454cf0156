package tape

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/providers/all"
)

// upstream is a provider that the command may ask.
type upstream struct {
	external.SDK
	// base and key are the user's own, and bearer the key for the header Authorization if it
	// is another. They are not passed on.
	base, key, bearer string
}

// upstreams are the providers by the names that package gateway uses for them.
func upstreams() map[string]*upstream {
	to := map[string]*upstream{}
	for _, sdk := range external.SDKs {
		if sdk.Public != "" {
			to[sdk.Provider] = &upstream{SDK: sdk}
		}
	}
	to["openai-responses"] = to["openai"]
	return to
}

// shortest is the length of a key that is searched for in other variables, in bytes.
const shortest = 8

// environment returns the user's environment as the command gets it: with the proxy as the
// address of every provider, and the token in place of every key of a provider, wherever in
// a value it stands. It fills in base and key of the upstreams. A key that is not set is
// set to the token if always is true, because SDKs do not start without one; else the
// command may have one of its own, such as in a file.
func environment(env []string, to map[string]*upstream, proxyURL, token string, always bool) (out, keys []string) {
	values := map[string]string{}
	for _, line := range env {
		if name, value, ok := strings.Cut(line, "="); ok {
			values[name] = value
		}
	}
	set := map[string]string{}
	to["anthropic"].bearer = values["ANTHROPIC_AUTH_TOKEN"]
	for _, u := range to {
		for _, name := range u.Bases {
			u.base = cmp.Or(u.base, values[name])
		}
		u.base = address(cmp.Or(u.base, u.Public))
		for _, name := range u.Keys {
			u.key = cmp.Or(u.key, values[name])
			if values[name] != "" || always {
				set[name] = token
			}
		}
		for i, name := range u.Bases {
			if values[name] != "" || i == 0 {
				set[name] = external.Address(proxyURL, u.base)
			}
		}
	}
	names := slices.AppendSeq([]string{"ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "CO_API_KEY"}, maps.Values(all.Keys()))
	for _, name := range names {
		if value := values[name]; value != "" {
			keys, set[name] = append(keys, value), token
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) // one may contain another
	keys = slices.Compact(keys)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if values[name] != "" { // of the machine, which must not be asked for the model proxy
			set["NO_PROXY"], set["no_proxy"] = exempt(values["NO_PROXY"]), exempt(values["no_proxy"])
		}
	}
	maps.Copy(values, set)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		for _, key := range keys {
			if len(key) >= shortest {
				value = strings.ReplaceAll(value, key, token)
			}
		}
		out = append(out, name+"="+value)
	}
	return out, keys
}

// address is a base URL; Ollama's may lack the scheme, and name the address that a server
// listens on.
func address(base string) string {
	base = strings.TrimRight(base, "/")
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	if u, err := url.Parse(base); err == nil && u.Hostname() == "0.0.0.0" {
		return strings.Replace(base, "0.0.0.0", "127.0.0.1", 1)
	}
	return base
}

// exempt adds this machine to a list of hosts that need no proxy.
func exempt(list string) string {
	if list == "" {
		return "127.0.0.1"
	}
	return list + ",127.0.0.1"
}

// keyFor is the user's key in place of one that the command sent in a header: its own if it
// is not the token.
func (u *upstream) keyFor(header, sent, token string) string {
	switch {
	case sent != token:
		return sent
	case header == "Authorization" && u.bearer != "":
		return u.bearer
	}
	return u.key
}
