package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/cupel-eval/cupel/cmd/internal/catalogue"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/fleets"
	"github.com/cupel-eval/cupel/cmd/internal/human"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/vertex"
	"github.com/cupel-eval/cupel/recorder"
)

// options turns the configuration into what the harness takes. cleanup stops
// the simulated models if they were started.
func options(ctx context.Context, p *process, cfg config.Config, sel harness.Selection) (o harness.Options, cleanup func(), err error) {
	cleanup = func() {}
	suite, dir, err := p.loadSuite(cfg.Suite)
	if err != nil {
		return o, cleanup, err
	}
	prices, err := cfg.LoadPrices()
	if err != nil {
		return o, cleanup, err
	}
	candidates, err := p.addressed(cfg.CandidatesOf(suite))
	if err != nil {
		return o, cleanup, err
	}
	o = harness.Options{
		Matrix:    harness.Matrix{Suite: suite, Candidates: candidates, Select: sel, Trials: cfg.Trials, Seed: cfg.Seed},
		Recording: harness.Recording{Mode: recorder.Mode(cfg.Mode), RecordFlags: cfg.Flag()},
		Bounds:    harness.Bounds{Concurrency: cfg.Concurrency, LaneConcurrency: cfg.LaneConcurrency, Caps: cfg.Caps, Limits: cfg.Limits},
		RunFolder: harness.RunFolder{Runs: cfg.Runs, Canary: cfg.Canary},
		Parts:     harness.Parts{Providers: p.providers(), Strategies: p.app.Strategies, Tools: p.app.Tools, Checks: p.app.Checks, Key: p.key, LookupEnv: p.credential, Secrets: p.secrets},
		Rules:     harness.Rules{Policy: cfg.Policy, Prices: prices, Acceptance: cfg.Acceptance, CodeVersion: version(), Adapters: p.adapters()},
	}
	if dir != "" {
		o.CassetteDir = filepath.Join(dir, "cassettes")
	}
	if o.Mode == recorder.Replay || o.Mode == "" {
		return o, cleanup, nil
	}
	transport, closeSim, err := simTransport(ctx, cfg.Seed, 1, suite)
	if err != nil {
		return o, cleanup, err
	}
	p.noteNoPlaybook(suite, candidates, sel.Candidates)
	p.loadCredentials()
	google := vertex.Transport(p.secrets.Watch(nil)) // reads credentials once they are needed
	o.Transport = func(provider string) http.RoundTripper {
		switch _, own := p.app.Providers[provider]; {
		case own:
		case strings.HasPrefix(provider, "sim-"):
			return transport
		case strings.HasPrefix(provider, "vertex"):
			return google
		}
		return http.DefaultTransport
	}
	return o, func() { _ = closeSim() }, nil
}

// fleet is what the verbs of a fleet need.
func (p *process) fleet() fleets.Host {
	return fleets.Host{
		Service: p.app.Fleet, Stdout: p.stdout, Stderr: p.stderr, JSON: p.json, Env: p.env, Credential: p.credential, Version: version(),
		Options: func(ctx context.Context, c *cobra.Command, suite string, m manifest.Manifest) (o harness.Options, cleanup func(), err error) {
			cfg, err := p.load(c)
			if err != nil {
				return o, func() {}, err
			}
			cfg.Suite, cfg.Mode, cfg.Trials, cfg.Seed = suite, m.Mode, m.Trials, m.Seed
			if o, cleanup, err = options(ctx, p, cfg, harness.Selection{}); err != nil {
				return o, cleanup, err
			}
			if o.Mode == recorder.Record { // the coordinator stores recordings
				return o, cleanup, nil
			}
			pack, _ := c.Flags().GetString("pack")
			closePack, err := packing.Use(&o, pack)
			closeSim := cleanup
			return o, func() { closePack(); closeSim() }, err
		},
	}
}

// addressed fills in the address of candidates whose provider has none of its
// own. It is part of what a cassette is matched by, so a replay needs it too.
func (p *process) addressed(candidates []goldens.Candidate) ([]goldens.Candidate, error) {
	candidates = slices.Clone(candidates)
	var errs []error
	for i, c := range candidates {
		if c.Provider == "bedrock" && c.Region == "" && c.BaseURL == "" {
			candidates[i].Region = p.firstEnv("AWS_REGION", "AWS_DEFAULT_REGION")
		}
		if c.Provider != "openai-compatible" || c.BaseURL != "" {
			continue
		}
		url, _ := p.env("LLM_API_URL")
		if url == "" {
			errs = append(errs, fmt.Errorf("candidate %s: provider openai-compatible needs an address: give the candidate a base_url such as http://127.0.0.1:8000/v1, or set LLM_API_URL", c.Name))
		}
		candidates[i].BaseURL = url
	}
	if len(errs) > 0 {
		return nil, exit.Usage(errors.Join(errs...))
	}
	return candidates, nil
}

// firstEnv is the value of the first of the variables that has one.
func (p *process) firstEnv(names ...string) string {
	for _, name := range names {
		if value, _ := p.env(name); value != "" {
			return value
		}
	}
	return ""
}

// key finds a candidate's credential in the environment.
func (p *process) key(c goldens.Candidate) (string, error) {
	name := cmp.Or(c.KeyEnv, all.Keys()[c.Provider])
	if name == "" {
		return "", nil // a provider without keys, such as the simulated ones
	}
	key, ok := p.credential(name)
	if c.KeyEnv == "" && all.KeyOptional(c.Provider) {
		return key, nil
	}
	if !ok || key == "" {
		return "", fmt.Errorf("provider %s needs a key: set %s, or name another variable with key_env", c.Provider, name)
	}
	return key, nil
}

// askOnTerminal makes the person at the terminal the run's human. Episodes then
// run one after the other unless the configuration says otherwise.
func (p *process) askOnTerminal(o *harness.Options) error {
	if o.Mode == recorder.Replay || o.Mode == "" {
		return exit.Usage(errors.New("--human has no effect in replay mode, which uses the tasks' replies and approvals; use --mode record or --mode live"))
	}
	if p.stdin == nil || !term.IsTerminal(int(p.stdin.Fd())) {
		return exit.Usage(errors.New("--human needs a terminal, and standard input is not one; remove it and give the tasks replies and approvals"))
	}
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	o.Human = human.New(p.stdin, p.stderr).Ask
	return nil
}

// stores are those of the App.
func (p *process) stores() catalogue.Host {
	return catalogue.Host{Stores: p.app.Stores, Stderr: p.stderr, Env: p.env, Credential: p.credential}
}

// findRun finds a run for a verb.
func (p *process) findRun(c *cobra.Command, name string) (dir string, err error) {
	cfg, err := p.load(c)
	if err != nil {
		return "", err
	}
	return rundir.Find(cfg.Runs, name)
}
