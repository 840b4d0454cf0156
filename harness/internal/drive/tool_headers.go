package drive

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/httptool"
)

// Outside reports whether a task's world is a process, or one of its tools uses HTTP or an
// MCP server. Their answers are on the episode's cassette.
func Outside(s *goldens.Suite, t goldens.Task, replaced map[string]episode.ToolFunc) bool {
	_, ok := t.World.Maker.(process.Kind)
	return ok || slices.ContainsFunc(t.Tools, func(name string) bool {
		return s.Remote(name) && replaced[name] == nil
	})
}

// ToolHeaders returns the headers of a task's HTTP tools, by tool, and the credentials in
// them and of its process world and its MCP servers. Its error joins every missing variable.
func ToolHeaders(s *goldens.Suite, t goldens.Task, replaced map[string]episode.ToolFunc, lookupEnv func(string) (string, bool)) (map[string]http.Header, []string, error) {
	headers := map[string]http.Header{}
	var secrets []string
	var errs []error
	lookup := variables(t, lookupEnv)
	if k, ok := t.World.Maker.(process.Kind); ok {
		for _, name := range k.Env {
			secret, ok := lookup(name)
			if !ok {
				errs = append(errs, fmt.Errorf("%s needs the environment variable %s; set it, or take it out of process.env", k, name))
			}
			secrets = append(secrets, secret)
		}
	}
	for _, name := range t.Tools {
		if server, ok := s.MCP[name]; ok && replaced[name] == nil {
			for _, name := range server.Variables() {
				secret, ok := lookup(name)
				if !ok {
					errs = append(errs, fmt.Errorf("%s needs the environment variable %s; set it, or take it out of mcp.env or mcp.headers", server, name))
				}
				secrets = append(secrets, secret)
			}
		}
		h, ok := s.HTTP[name]
		if !ok || replaced[name] != nil {
			continue
		}
		found, own, err := httptool.Headers(name, h, lookup)
		headers[name], secrets, errs = found, append(secrets, own...), append(errs, err)
	}
	return headers, secrets, errors.Join(errs...)
}
