package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/store"
)

// Host is what the verbs need of the program.
type Host struct {
	// Stores open stores by the scheme of their addresses; nil leaves out the verb push.
	Stores map[string]func(address string, lookup func(string) (string, bool)) (store.Store, error)
	// Env reads environment variables, and Credential those that no output may show.
	Env, Credential func(name string) (string, bool)
	// Stderr is for people.
	Stderr io.Writer
}

// storedRun matches s3://PLACE/RUN and s3://PLACE/RUN:CANDIDATE, and the same of other stores.
var storedRun = regexp.MustCompile(`^(\w+://.+)/([^/:]+)(:[A-Za-z0-9._-]+)?$`)

func inStore(run string) bool {
	scheme, _, found := strings.Cut(run, "://")
	return found && slices.Contains([]string{"s3", "file", "nats", "tls"}, scheme)
}

// readsStored are the verbs that read runs in stores; run takes them as baselines.
var readsStored = []string{"compare", "gate", "merge", "query", "report", "run", "show", "verify", "view"}

// AddFlags adds the flag of the verb report for runs in stores; without stores it adds none.
func (h Host) AddFlags(cmd *cobra.Command) {
	if h.Stores != nil {
		cmd.Flags().Int("past", 0, "of a run in a store: stage so many earlier runs of it, too, for trends")
	}
}

// past is the number of earlier runs to stage.
func past(c *cobra.Command) (n int, err error) {
	if c.Flags().Lookup("past") == nil {
		return 0, nil
	}
	if n, err = c.Flags().GetInt("past"); err == nil && (n < 0 || n > recent) {
		err = exit.Usage(fmt.Errorf("--past %d: must be 0 to %d", n, recent))
	}
	return n, err
}

// Stage replaces runs in stores, among the arguments and baselines of a verb, by the folders
// in which it stages them.
func (h Host) Stage(c *cobra.Command, args []string) error {
	if !slices.Contains(readsStored, c.Name()) {
		return nil
	}
	earlier, err := past(c)
	if err != nil {
		return err
	}
	if err := h.stageAll(c.Context(), args, earlier); err != nil {
		return err
	}
	flag := c.Flags().Lookup("baseline")
	if flag == nil {
		return nil
	}
	baselines, ok := flag.Value.(pflag.SliceValue)
	if !ok || !flag.Changed {
		return nil
	}
	list := baselines.GetSlice()
	if err := h.stageAll(c.Context(), list, 0); err != nil {
		return err
	}
	return baselines.Replace(list)
}

// stageAll stages the runs of a list that are in stores, and so many earlier ones of each.
func (h Host) stageAll(ctx context.Context, list []string, earlier int) error {
	for i, text := range list {
		if !inStore(text) {
			continue
		}
		m := storedRun.FindStringSubmatch(text)
		if m == nil {
			return exit.Usage(fmt.Errorf("%s does not name a run: write s3://BUCKET/PREFIX/RUN, or latest in place of RUN", text))
		}
		runs, err := h.open(m[1])
		if err != nil {
			return err
		}
		dir, err := runs.Fetch(ctx, m[2])
		if err == nil && earlier > 0 {
			err = runs.FetchBefore(ctx, filepath.Base(dir), earlier)
		}
		if err != nil {
			return err
		}
		list[i] = dir + m[3]
	}
	return nil
}

// open opens the runs in a store.
func (h Host) open(address string) (c Catalogue, err error) {
	scheme, _, found := strings.Cut(address, "://")
	open := h.Stores[scheme]
	switch {
	case !found:
		return c, exit.Usage(errors.New("name the store, such as s3://BUCKET/PREFIX"))
	case hasCredentials(address):
		return c, exit.Usage(errors.New("the address of a store must not have credentials: set the variables that docs/scale.md names"))
	case h.Stores == nil:
		return c, exit.Usage(fmt.Errorf("%s is in a store, which cupel does not read; use cupel-fleet in its place", address))
	case open == nil:
		return c, exit.Usage(fmt.Errorf("%s: there are no stores of this kind; name one such as s3://BUCKET/PREFIX", address))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return c, fmt.Errorf("find a folder for runs of %s: %w", address, err)
	}
	s, err := open(address, func(name string) (string, bool) {
		if strings.Contains(name, "KEY") || strings.Contains(name, "TOKEN") || strings.Contains(name, "PASSWORD") {
			return h.Credential(name)
		}
		return h.Env(name)
	})
	sum := sha256.Sum256([]byte(address))
	return Catalogue{Store: s, Address: address, Folder: filepath.Join(cache, "cupel", "stores", hex.EncodeToString(sum[:8]))}, err
}

func hasCredentials(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.User != nil
}

// Commands are the verbs; none without stores. find finds the folder of a run.
func Commands(h Host, find func(c *cobra.Command, name string) (dir string, err error), flags func(*cobra.Command)) []*cobra.Command {
	if h.Stores == nil {
		return nil
	}
	cmd := &cobra.Command{
		Use:   "push RUN s3://BUCKET/PREFIX",
		Short: "Store a run in object storage",
		Long: `push stores a run that has ended, for verbs on any machine: compare, gate, query, report
and view take s3://BUCKET/PREFIX/RUN, and latest in place of RUN. It may be repeated: files
that are stored already are not sent again. A complete run is never replaced. Credentials
are those of the AWS tools: AWS_ACCESS_KEY_ID and so on. AWS_ENDPOINT_URL_S3 names a server
that is not Amazon's. file:///FOLDER stores in a folder, such as a shared one, and
nats://HOST:PORT/NAME in the queue of a fleet. Details: docs/scale.md.`,
		Example: `  cupel-fleet push latest s3://evals/nightly
  cupel-fleet gate s3://evals/nightly/latest`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := find(c, args[0])
			if err != nil {
				return err
			}
			return h.Push(c.Context(), dir, args[1])
		},
	}
	flags(cmd)
	return []*cobra.Command{cmd}
}

// Check reports why no run can be stored at an address. Without an address it does nothing.
func (h Host) Check(ctx context.Context, address string) error {
	if address == "" {
		return nil
	}
	_, err := h.usable(ctx, strings.TrimRight(address, "/"))
	return err
}

// usable opens a store that respects the conditions of puts.
func (h Host) usable(ctx context.Context, address string) (Catalogue, error) {
	runs, err := h.open(address)
	if err == nil {
		err = store.Probe(ctx, runs.Store)
	}
	return runs, err
}

// Push stores a run and says where. Without an address it does nothing.
func (h Host) Push(ctx context.Context, dir, address string) error {
	if address == "" {
		return nil
	}
	address = strings.TrimRight(address, "/")
	runs, err := h.usable(ctx, address)
	if err == nil {
		err = runs.Push(ctx, dir)
	}
	if err != nil && exit.Code(err) != exit.BadUsage {
		return fmt.Errorf("%w\nthe run is in %s; store it later with: cupel-fleet push %s %s", err, dir, dir, address)
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(h.Stderr, "stored as %s/%s\n", address, filepath.Base(dir))
	return nil
}
