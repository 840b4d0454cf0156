//go:build unix

// Package browser drives a headless Chromium in tests, as people use a page: with a
// pointer, with a keyboard, on a phone, in the dark.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Browser is a headless Chromium, spoken to by the DevTools protocol over two
// pipes: JSON messages that end with a zero byte. No port is opened.
type Browser struct {
	t       *testing.T
	send    *os.File
	mu      sync.Mutex // guards what follows
	last    int
	waiting map[int]chan message
	tabs    map[string]*Tab // by session
	ended   chan struct{}
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
		Data    string `json:"data"`
	} `json:"error,omitempty"`
}

// Obj is a JSON object.
type Obj = map[string]any

// Patience is how long a page may take for one step on a busy machine.
const Patience = 30 * time.Second

// chromium is the path of a browser; the test is skipped without one.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	for _, name := range []string{os.Getenv("CUPEL_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium, chromium-browser or google-chrome in PATH and none in CUPEL_CHROMIUM: pages are not tested in a browser")
	return ""
}

// Start starts a browser with a profile of its own; all of its processes
// and files are gone at the end of the test.
func Start(t *testing.T) *Browser {
	t.Helper()
	path := chromium(t)
	fromUs, toUs := pipe(t), pipe(t)
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--in-process-gpu", "--disable-dev-shm-usage",
		"--disable-extensions", "--process-per-site", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
		"--no-first-run", "--no-startup-window", "--disable-breakpad", "--disable-crash-reporter", "--disable-features=Translate,OptimizationHints,MediaRouter",
		"--force-color-profile=srgb", "--lang=en-GB", "--remote-debugging-pipe", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{fromUs.r, toUs.w} // descriptors 3 and 4
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to end it with its children
	var said strings.Builder
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second
	require.NoError(t, cmd.Start())
	b := &Browser{t: t, send: fromUs.w, waiting: map[int]chan message{}, tabs: map[string]*Tab{}, ended: make(chan struct{})}
	require.NoError(t, errors.Join(fromUs.r.Close(), toUs.w.Close()))
	go b.read(bufio.NewReaderSize(toUs.r, 1<<20))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the browser said:\n%s", said.String())
		}
	})
	t.Cleanup(func() {
		_, _ = b.Ask("", "Browser.close", nil) // gone before it answers, or killed below
		select {
		case <-b.ended:
		case <-time.After(2 * time.Second):
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // none may be left
		_ = cmd.Wait()                                      // killed
		_ = errors.Join(fromUs.w.Close(), toUs.r.Close())
		require.Eventually(t, func() bool { return errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH) }, Patience, 10*time.Millisecond, "processes of the browser are left")
	})
	return b
}

type ends struct{ r, w *os.File }

func pipe(t *testing.T) ends {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	return ends{r, w}
}

// read hands out replies and events until the browser ends.
func (b *Browser) read(from *bufio.Reader) {
	defer close(b.ended)
	for {
		line, err := from.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			return
		}
		b.mu.Lock()
		reply, tab := b.waiting[m.ID], b.tabs[m.SessionID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && reply != nil:
			reply <- m
		case m.ID == 0 && tab != nil:
			tab.event(m)
		}
	}
}

// Ask calls a method of the protocol and waits for its result.
func (b *Browser) Ask(session, method string, params Obj) (json.RawMessage, error) {
	return b.begin(session, method, params)()
}

// begin calls a method; the browser takes calls one after the other. The returned
// function waits for the result.
func (b *Browser) begin(session, method string, params Obj) func() (json.RawMessage, error) {
	failed := func(err error) func() (json.RawMessage, error) {
		return func() (json.RawMessage, error) { return nil, fmt.Errorf("%s: %w", method, err) }
	}
	raw, err := json.Marshal(params)
	if params == nil {
		raw = nil
	}
	reply := make(chan message, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	body, err2 := json.Marshal(message{ID: b.last, SessionID: session, Method: method, Params: raw})
	if err := errors.Join(err, err2); err != nil {
		return failed(err)
	}
	b.waiting[b.last] = reply
	if _, err := b.send.Write(append(body, 0)); err != nil {
		return failed(err)
	}
	return func() (json.RawMessage, error) {
		select {
		case m := <-reply:
			if m.Error != nil {
				return failed(fmt.Errorf("%s %s", m.Error.Message, m.Error.Data))()
			}
			return m.Result, nil
		case <-b.ended:
			return failed(errors.New("the browser has ended"))()
		case <-time.After(Patience):
			return failed(fmt.Errorf("no reply in %s", Patience))()
		}
	}
}

// Tab is one page. It remembers what no page of ours may do.
type Tab struct {
	*Browser
	// T is the part of the test that uses the tab: see Fresh.
	T        *testing.T
	session  string
	server   string // that may be asked
	loaded   chan struct{}
	mu       sync.Mutex
	problems []string
}

// NewTab opens a tab without a network, or with the one server whose address is given. Opening one is slow, so it is for the
// whole test; each of its parts begins with Fresh.
func (b *Browser) NewTab(server string) *Tab {
	var made struct{ BrowserContextID, TargetID, SessionID string }
	ask := func(method string, params Obj) {
		result, err := b.Ask("", method, params)
		require.NoError(b.t, err)
		require.NoError(b.t, json.Unmarshal(result, &made))
	}
	ask("Target.createBrowserContext", Obj{})
	ask("Target.createTarget", Obj{"url": "about:blank", "browserContextId": made.BrowserContextID, "width": 1280, "height": 900})
	ask("Target.attachToTarget", Obj{"targetId": made.TargetID, "flatten": true})
	p := &Tab{Browser: b, T: b.t, session: made.SessionID, server: server, loaded: make(chan struct{}, 100)}
	b.mu.Lock()
	b.tabs[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.Do(domain+".enable", nil)
	}
	p.Do("Performance.enable", Obj{"timeDomain": "threadTicks"})
	if server == "" {
		p.Do("Network.emulateNetworkConditions", Obj{"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
	}
	p.Do("Emulation.setFocusEmulationEnabled", Obj{"enabled": true})
	return p
}

// Fresh lends the tab to a part of the test: as wide as a desk's screen, light,
// with scripts, on an empty page. The part fails if a page logs anything, throws,
// opens a dialog or asks for anything but files and the server.
func (p *Tab) Fresh(t *testing.T) *Tab {
	t.Helper()
	p.T = t
	p.Do("Emulation.setScriptExecutionDisabled", Obj{"value": false})
	p.Do("Emulation.setDeviceMetricsOverride", Obj{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	p.Media("", "light")
	p.Visit("about:blank")
	t.Cleanup(func() {
		if t.Failed() {
			p.Picture()
		}
		require.Empty(t, p.TakeProblems(), "a page must neither log, throw, open dialogs nor use a network")
	})
	return p
}

// event notes what happened in the page.
func (p *Tab) event(m message) {
	var e struct {
		Type, Message    string
		Args             []struct{ Value, Description any }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
		Entry   struct{ Level, Text, URL string }
		Request struct{ URL string }
	}
	err := json.Unmarshal(m.Params, &e)
	problem := ""
	switch m.Method {
	case "Page.loadEventFired":
		p.loaded <- struct{}{}
	case "Runtime.consoleAPICalled":
		problem = fmt.Sprintf("console.%s: %v", e.Type, e.Args)
	case "Runtime.exceptionThrown":
		problem = "exception: " + e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description
	case "Log.entryAdded":
		problem = fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case "Page.javascriptDialogOpening":
		problem = fmt.Sprintf("dialog %s: %s", e.Type, e.Message)
		go func() { _, _ = p.Ask(p.session, "Page.handleJavaScriptDialog", Obj{"accept": false}) }() // the problem is noted
	case "Network.requestWillBeSent":
		if scheme, _, _ := strings.Cut(e.Request.URL, ":"); scheme != "file" && scheme != "data" && scheme != "about" && (p.server == "" || !strings.HasPrefix(e.Request.URL, p.server+"/")) {
			problem = "request: " + e.Request.URL
		}
	}
	if err != nil {
		problem = fmt.Sprintf("%s: %v", m.Method, err)
	}
	if problem != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.problems = append(p.problems, problem)
	}
}

// Do calls a method that must succeed.
func (p *Tab) Do(method string, params Obj) json.RawMessage {
	p.T.Helper()
	result, err := p.Ask(p.session, method, params)
	require.NoError(p.T, err)
	return result
}

// TakeProblems returns what the pages did that they may not do, and forgets it.
func (p *Tab) TakeProblems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	problems := p.problems
	p.problems = nil
	return problems
}

// Picture saves what a person would see, where CUPEL_PICTURES names a folder.
func (p *Tab) Picture() {
	dir := os.Getenv("CUPEL_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	result, err := p.Ask(p.session, "Page.captureScreenshot", Obj{"captureBeyondViewport": false})
	if err == nil {
		err = json.Unmarshal(result, &shot)
	}
	raw, err2 := base64.StdEncoding.DecodeString(shot.Data)
	name := filepath.Join(dir, strings.NewReplacer("/", "-", " ", "-").Replace(p.T.Name())+".png")
	p.T.Logf("picture %s: %v", name, errors.Join(err, err2, os.WriteFile(name, raw, 0o644)))
}
