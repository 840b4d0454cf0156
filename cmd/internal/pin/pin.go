// Package pin asks the commands and MCP servers of a suite for their tools, prints them as
// YAML, and pins those of servers in tools.lock.json.
package pin

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens/draft"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/toolserver"
	"github.com/cupel-eval/cupel/goldens/toolserver/session"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Suite is a suite folder and what its commands need.
type Suite struct {
	Dir   string
	Kinds map[string]world.Kind
	// Lookup finds environment variables.
	Lookup func(name string) (string, bool)
	Out    io.Writer
}

// Print prints what each different command of the suite's worlds, and each of its MCP servers,
// declares.
func (s Suite) Print(ctx context.Context) error {
	worlds, servers, err := load.Processes(regular.DirFS(s.Dir), s.Dir, s.Kinds)
	if err != nil {
		return err
	}
	if len(worlds)+len(servers) == 0 {
		return exit.Usage(fmt.Errorf("list the tools of %s: no world of its suite.yaml is of kind process, and it names no MCP server; see docs/worlds.md and docs/suites.md", s.Dir))
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		k := worlds[name]
		if key := strings.Join(k.Command, "\x00"); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		k.Lookup = s.Lookup
		specs, err := k.List(ctx)
		if err != nil {
			return fmt.Errorf("world %s: %w", name, err)
		}
		text, err := draft.Tools(specs)
		if err == nil {
			_, err = fmt.Fprintf(s.Out, "# of world %s\n%s", name, text)
		}
		if err != nil {
			return err
		}
	}
	for _, server := range servers {
		if server.Pinned, err = session.List(ctx, server, s.Lookup); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.Out, "# of %s; --pin pins them\n%s", server.Title(), server.Pinned.Listing()); err != nil {
			return err
		}
	}
	return nil
}

// Pin writes what each MCP server of the suite lists now, and prints what has changed.
func (s Suite) Pin(ctx context.Context) error {
	fsys := regular.DirFS(s.Dir)
	_, servers, err := load.Processes(fsys, s.Dir, s.Kinds)
	if err != nil {
		return err
	}
	if len(servers) == 0 {
		return exit.Usage(fmt.Errorf("pin the tools of %s: its suite.yaml names no MCP server; see docs/suites.md", s.Dir))
	}
	var before toolserver.Lock // what cannot be read is replaced
	if text, err := fs.ReadFile(fsys, toolserver.LockFile); err == nil {
		before, _ = toolserver.ReadLock(text)
	}
	lock, lines := toolserver.Lock{}, ""
	for _, server := range servers {
		now, err := session.List(ctx, server, s.Lookup)
		if err != nil {
			return err
		}
		lock[server.Name], server.Pinned = now, now
		was, changes := before[server.Name], "new"
		if was.Digest == now.Digest {
			changes = "unchanged"
		} else if was.Digest != "" {
			changes = was.Changes(now)
		}
		lines += fmt.Sprintf("  %s, %s: %s\n", server.Title(), console.Count(len(now.Tools), "tool"), changes)
	}
	text, err := lock.Write()
	if err != nil {
		return err
	}
	name := filepath.Join(s.Dir, toolserver.LockFile)
	if err := atomicfile.WriteBytes(name, text); err != nil {
		return fmt.Errorf("pin tools: %w", err)
	}
	_, err = fmt.Fprintf(s.Out, "wrote %s\n%s", name, lines)
	return err
}
