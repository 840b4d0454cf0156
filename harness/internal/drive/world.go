package drive

import (
	"context"
	"net/http"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness/internal/httptool"
	"github.com/cupel-eval/cupel/internal/local"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// openWorld opens the world and the MCP servers of the episode. The world's seed depends on task and trial only, so
// that all candidates and forks have the same world. The requests of a process world go
// through the recorder.
func openWorld(ctx context.Context, e *driver) (err error) {
	task, trial := e.Task, e.Trial
	if e.Fork != nil {
		trial = e.Fork.Trial
	}
	if k, ok := task.World.Maker.(process.Kind); ok {
		k.Transport, k.Lookup = worldTransport{e}, variables(task, e.LookupEnv)
		task.World.Maker = k
	}
	if e.world, err = goldens.OpenWorld(ctx, task, uint64(NewSeed(0, task.ID, "", trial).Int64())); err == nil {
		e.rows.world = e.world
		err = openServers(ctx, e)
	}
	if err != nil && e.recorder != nil && e.Mode == recorder.Record {
		e.recorder.Retract(0) // a resumed run opens it again
	}
	return err
}

// failOpen ends an episode that could not be opened.
func failOpen(ctx context.Context, e *driver, err error) {
	if e.fail(err); ctx.Err() != nil {
		e.finish = &agent.Finish{Status: agent.Interrupted}
	}
}

// variables looks up environment variables: the task's own take precedence.
func variables(t goldens.Task, lookupEnv func(string) (string, bool)) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := t.World.Env[name]
		if !ok && lookupEnv != nil {
			value, ok = lookupEnv(name)
		}
		return value, ok && value != ""
	}
}

// worldTransport sends the requests of a process world like those of tools: to the recorder
// or, before a fork, to the past's recording. An episode without a cassette has neither.
type worldTransport struct{ e *driver }

// RoundTrip implements http.RoundTripper.
func (t worldTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if to := toolsTransport(t.e); to != nil {
		return to.RoundTrip(req)
	}
	if t.e.missing != nil {
		return nil, t.e.missing
	}
	return local.Transport{Secrets: t.e.Secrets}.RoundTrip(req)
}

// toolTransport is the transport below the recorder. Requests of tools, process worlds and MCP
// servers go to them, other requests to models.
type toolTransport struct {
	models  http.RoundTripper
	secrets *secrets.Finder
}

// RoundTrip implements http.RoundTripper.
func (t toolTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	tools := httptool.Transport{Base: http.DefaultTransport, Secrets: t.secrets}
	own, ok := req.Context().Value(transportKey{}).(http.RoundTripper)
	switch {
	case (local.Transport{}).Handles(req):
		return local.Transport{Secrets: t.secrets}.RoundTrip(req)
	case ok:
		return own.RoundTrip(req)
	case tools.Handles(req):
		return tools.RoundTrip(req)
	}
	return t.models.RoundTrip(req)
}
