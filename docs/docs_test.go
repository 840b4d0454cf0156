//go:build unix

// Package docs_test runs the commands that README.md and the pages of this folder show.
//
// Each page is one session of bash, in a fresh folder, with cupel on the PATH, no keys and no
// network. All blocks of sh, bash and console are run, in order; so cd, export and files last
// until the end of the page. HTML comments say what the test needs to know, each directly
// above the block that it concerns:
//
//	<!-- file: PATH -->            the block is the file PATH; nothing of it is run
//	<!-- add to: PATH -->          the block is YAML to add to the file PATH: lists grow, maps are joined
//	<!-- background: HOST:PORT --> the block's one command goes on, as in another terminal; the
//	                               next command waits until the address answers
//	<!-- output -->                the commands before the block print its lines; … stands for any text
//	<!-- not executed: REASON -->  the block cannot be run here
//	<!-- setup: COMMANDS -->       run these first; several lines, if need be. It needs no block. Only
//	                               for what the page's words have told a reader to do
//
// A command must exit with 0. A trailing comment states another code: "# exit 10", and any
// text after a colon or comma. In a console block, lines that begin with "$ " are commands,
// and the others are their output.
//
// Requests to providers reach simulated models, whatever provider and model are asked for: a
// proxy answers them with the playbooks of the built-in suites and of suites/* of the page's
// folder. It also serves the files that raw.githubusercontent.com would. A page whose text
// has $CHECKOUT, in a setup such as "cd $CHECKOUT", gets a copy of the repository there.
//
// make docs runs all pages; go test ./docs runs README.md only.
package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/cmd"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestMain is also the program cupel, and what adds YAML to a file.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "cupel":
		cmd.Main(cmd.App{})
	case "add-yaml":
		if err := addYAML(os.Args[1], os.Args[2]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	pages := []string{"README.md"}
	if os.Getenv("CUPEL_DOCS") != "" {
		pages = append(pages, shownPages(t)...)
	}
	s := newSite(t)
	var mu sync.Mutex
	executed, exempt := 0, []string{}
	t.Cleanup(func() {
		t.Logf("%d blocks of commands executed, %d exempt", executed, len(exempt))
		for _, e := range exempt {
			t.Log("not executed: " + e)
		}
	})
	for _, name := range pages {
		t.Run(strings.TrimPrefix(name, "docs/"), func(t *testing.T) {
			t.Parallel()
			p, err := parse(name, readPage(t, name))
			require.NoError(t, err)
			mu.Lock()
			executed += p.executed
			exempt = append(exempt, p.exempt...)
			mu.Unlock()
			require.NoError(t, s.run(t, p))
		})
	}
}

// shownPages are the pages of this folder, by their paths in the repository.
func shownPages(t *testing.T) (names []string) {
	root := testkit.Root(t)
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, f := range files {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(f[len(root):]), "/"))
		}
	}
	require.NotEmpty(t, names)
	return names
}

func readPage(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join(testkit.Root(t), name))
	require.NoError(t, err)
	return string(text)
}

// site is what all pages need: programs and the proxy to simulated models.
type site struct {
	root, bin string
	proxy     *proxy
	port      sync.Mutex
}

func newSite(t *testing.T) *site {
	s := &site{root: testkit.Root(t), bin: t.TempDir()}
	self, err := os.Executable()
	require.NoError(t, err)
	for _, name := range []string{"cupel", "add-yaml"} {
		require.NoError(t, os.Symlink(self, filepath.Join(s.bin, name)))
	}
	s.proxy = newProxy(t, s.root)
	return s
}

// run runs the commands of a page in a fresh folder and checks their exit codes and output.
func (s *site) run(t *testing.T, p *page) error {
	if len(p.steps) == 0 {
		return nil
	}
	home := t.TempDir()
	dir, checkout := filepath.Join(home, "page"), filepath.Join(home, "cupel")
	require.NoError(t, os.Mkdir(dir, 0o755))
	if strings.Contains(p.text, "$CHECKOUT") {
		copyCheckout(t, s.root, checkout)
	}
	script := filepath.Join(home, "script.sh")
	require.NoError(t, os.WriteFile(script, []byte(p.script(home)), 0o644))
	for i, st := range p.steps {
		if st.file != "" {
			require.NoError(t, os.WriteFile(filepath.Join(home, fmt.Sprintf("block-%d", i)), []byte(st.text), 0o644))
		}
	}
	if slices.ContainsFunc(p.steps, func(s step) bool { return s.address != "" }) {
		s.port.Lock() // pages use the same addresses
		defer s.port.Unlock()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", script)
	bash.Dir, bash.WaitDelay = dir, 5*time.Second
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	bash.Cancel = func() error { return syscall.Kill(-bash.Process.Pid, syscall.SIGTERM) } // bash ends its jobs
	proxy := s.proxy.address(dir, checkout)
	goenv := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		return name + "=" + strings.TrimSpace(string(out))
	}
	bash.Env = []string{
		"HOME=" + home, "PATH=" + s.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC", "NO_COLOR=1",
		"CHECKOUT=" + checkout, "HTTPS_PROXY=" + proxy, "HTTP_PROXY=" + proxy, "https_proxy=" + proxy, "http_proxy=" + proxy,
		"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
		"SSL_CERT_FILE=" + s.proxy.authority, "CURL_CA_BUNDLE=" + s.proxy.authority,
		"GOFLAGS=-trimpath", "GOPROXY=off", "CGO_ENABLED=0", "GOTOOLCHAIN=local", goenv("GOCACHE"), goenv("GOMODCACHE"), goenv("GOPATH"),
	}
	var log bytes.Buffer
	bash.Stdout, bash.Stderr = &log, &log
	err := bash.Run()
	return p.judge(log.String(), err)
}

// copyCheckout copies the files of the repository that git does not ignore.
func copyCheckout(t *testing.T, root, to string) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		from, err := os.Open(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		require.NoError(t, err)
		info, err := from.Stat()
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		out, err := os.OpenFile(filepath.Join(to, name), os.O_CREATE|os.O_WRONLY, info.Mode())
		require.NoError(t, err)
		_, err = io.Copy(out, from)
		require.NoError(t, err)
		require.NoError(t, out.Close())
		require.NoError(t, from.Close())
	}
}

// addYAML adds the YAML of one file to another: lists grow, maps are joined, and anything
// else is replaced.
func addYAML(to, from string) error {
	var old, added any
	for path, into := range map[string]*any{to: &old, from: &added} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	text, err := yaml.Marshal(joinYAML(old, added))
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

func joinYAML(old, added any) any {
	switch add := added.(type) {
	case map[string]any:
		if into, ok := old.(map[string]any); ok {
			for key, value := range add {
				into[key] = joinYAML(into[key], value)
			}
			return into
		}
	case []any:
		if into, ok := old.([]any); ok {
			return append(into, add...)
		}
	}
	return added
}
