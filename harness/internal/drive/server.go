package drive

import (
	"context"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/toolserver/session"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/recorder"
)

// openServers opens a session with each MCP server whose tools the task offers, in their
// order: before a model is asked, it is known that the tools are the pinned ones.
func openServers(ctx context.Context, e *driver) error {
	e.servers = map[string]*session.Session{}
	var servers []toolserver.Server
	for _, name := range e.Task.Tools {
		server, ok := e.Suite.MCP[name]
		if ok && e.Tools[name] == nil && e.servers[server.Name] == nil {
			e.servers[server.Name] = session.New(server, variables(e.Task, e.LookupEnv))
			servers = append(servers, server)
		}
	}
	to := toolsTransport(e)
	if to == nil { // a call says what is missing
		return nil
	}
	if e.Mode != recorder.Replay {
		end, err := session.Turn(ctx, servers)
		if err != nil {
			return err
		}
		e.endTurn = end
	}
	for _, server := range servers {
		if err := e.servers[server.Name].Open(ctx, to); err != nil {
			return err
		}
	}
	return nil
}

// closeServers ends the sessions.
func closeServers(e *driver) {
	for _, s := range e.servers {
		s.Close()
	}
	if e.endTurn != nil {
		e.endTurn()
	}
}

// serverTool runs a tool of an MCP server, through the episode's recorder.
func serverTool(e *driver, server string) episode.ToolFunc {
	return func(ctx context.Context, c tool.Call, _ episode.CallInfo) (res tool.Result, err error) {
		to := toolsTransport(e)
		if to == nil {
			return res, e.missing
		}
		var took time.Duration
		ctx = recorder.Observe(ctx, func(x recorder.Exchange) { took += x.Duration })
		res, err = e.servers[server].Call(ctx, to, c)
		res.Duration = took
		return res, err
	}
}
