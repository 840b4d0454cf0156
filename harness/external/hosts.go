package external

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/external/launch"
	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// Hosts are the proxies and agents of a run. Each is started when the first episode needs
// it. The zero value is ready, and safe for concurrent use.
type Hosts struct {
	// Launch are the options of all agents.
	Launch launch.Options
	// WithAgent runs the agents in a replay, too: against their recordings.
	WithAgent bool

	upstreams map[string]*Upstream // by candidate

	mu      sync.Mutex
	folder  string // of what is temporary
	remove  func()
	servers map[settings.Proxy]*proxy.Server
	turns   map[settings.Proxy]*sync.Mutex
	hosts   map[string]*readyHost
}

// readyHost is a host that was asked once whether it is ready.
type readyHost struct {
	Host
	once sync.Once
	err  error
}

// of returns the host of a candidate once its agent is ready. ctx bounds the wait of the
// first caller.
func (h *Hosts) of(ctx context.Context, c goldens.Candidate) (*Host, error) {
	candidate := c.Name
	host, err := h.host(candidate, c.Settings)
	if err != nil {
		return nil, fmt.Errorf("candidate %s: %w", candidate, err)
	}
	host.once.Do(func() { host.err = host.Agent.Ready(ctx) })
	if host.err != nil {
		return nil, fmt.Errorf("candidate %s: %w", candidate, host.err)
	}
	return &host.Host, nil
}

func (h *Hosts) host(candidate string, s settings.Settings) (*readyHost, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if host := h.hosts[candidate]; host != nil {
		return host, nil
	}
	if h.hosts == nil {
		h.hosts, h.servers, h.turns = map[string]*readyHost{}, map[settings.Proxy]*proxy.Server{}, map[settings.Proxy]*sync.Mutex{}
	}
	folder, err := h.temporary()
	if err != nil {
		return nil, err
	}
	host := &readyHost{Host: Host{Correlate: s.Correlate, Folder: folder, replay: proxy.NewToken()}}
	if name := s.Proxy.TokenEnv; name != "" {
		var ok bool
		if host.Secret, ok = h.lookup(name); !ok {
			return nil, fmt.Errorf("proxy: %s is not set; set it to a secret of your own, such as 32 random letters, and use it in the agent's base URL", name)
		}
	}
	if host.Agent, err = launch.New(s, h.Launch); err != nil {
		return nil, err
	}
	if host.Server = h.servers[s.Proxy]; host.Server == nil {
		address, _, _ := net.SplitHostPort(s.Proxy.Listen) // checked with the settings
		ip := net.ParseIP(address)
		host.Server, err = proxy.Start(context.Background(), proxy.Options{
			Listen: s.Proxy.Listen, Advertise: s.Proxy.Advertise, Remote: address != "" && address != "localhost" && (ip == nil || !ip.IsLoopback()),
		})
		if err != nil {
			return nil, err
		}
		h.servers[s.Proxy], h.turns[s.Proxy] = host.Server, new(sync.Mutex)
	}
	host.turn = h.turns[s.Proxy]
	h.hosts[candidate] = host
	return host, nil
}

// temporary is a folder that the next run removes if this process is killed. The caller has locked.
func (h *Hosts) temporary() (string, error) {
	var err error
	if h.folder == "" {
		if h.folder, h.remove, err = atomicfile.MkdirTemp("cupel-agents"); err == nil {
			h.folder, err = filepath.EvalSymlinks(h.folder) // as commands see their folder
		}
	}
	return h.folder, err
}

func (h *Hosts) lookup(name string) (string, bool) {
	if h.Launch.Lookup == nil {
		return "", false
	}
	value, ok := h.Launch.Lookup(name)
	return value, ok && value != ""
}

// Close stops the proxies, and removes what is temporary.
func (h *Hosts) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, s := range h.servers {
		errs = append(errs, s.Close())
	}
	if h.remove != nil {
		h.remove()
	}
	return errors.Join(errs...)
}
