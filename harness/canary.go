package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/harness/canary"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/recorder"
)

// CanaryFinding is the result of the model drift canary for one model.
type CanaryFinding struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Candidates use the model.
	Candidates []string `json:"candidates"`
	Simulated  bool     `json:"simulated"`
	manifest.Canary
}

// Canary sends the prompts of the model drift canary to the models of the selected
// candidates, appends the observations to the history below o.Runs, and returns its
// findings in the order of the candidates. A failed call is a finding with a Problem, not
// an error. The calls are live and count towards o.Caps.
func Canary(ctx context.Context, o Options) ([]CanaryFinding, error) {
	o.Mode, o.Trials, o.Resume, o.Stale, o.Fork, o.Watch, o.Sharing = recorder.Live, 1, "", false, nil, nil, nil
	if o.Runs == "" {
		return nil, &ConfigError{errors.New("canary: no runs folder to keep the history in; set runs")}
	}
	r, err := newRunner(o)
	if err != nil {
		return nil, err
	}
	defer r.closeCassettes()
	if err := newControl(r, &store{}); err != nil {
		return nil, err
	}
	found := askCanary(r, ctx, false)
	return found, context.Cause(ctx)
}

// startCanary runs the canary at the start of a recording or live run and adds its findings
// to the manifest. It skips models that were observed earlier on the same day.
func startCanary(r *runner, ctx context.Context, s *store) error {
	if !r.Canary || r.Mode == recorder.Replay || s.dir == "" || r.resumed != nil {
		return nil
	}
	for _, f := range askCanary(r, ctx, true) {
		for i, c := range s.manifest.Candidates {
			if slices.Contains(f.Candidates, c.Name) {
				s.manifest.Candidates[i].Canary = f.Canary
			}
		}
	}
	return manifest.Write(s.dir, s.manifest)
}

// canarySubject is a model with the settings that can change its answers.
type canarySubject struct {
	canary.Model
	set        string
	candidate  resolvedCandidate // the first one with this model
	candidates []string
}

func canarySubjects(r *runner) []*canarySubject {
	var subjects []*canarySubject
	for _, c := range r.plan.candidates {
		if c.planned == 0 || c.Provider == episode.ScriptedCandidate {
			continue
		}
		settings, _ := json.Marshal([]any{c.Region, c.Headers, c.Query, c.Body}) // validated with the candidate
		one := canarySubject{canary.Model{Provider: c.Provider, BaseURL: c.BaseURL, Model: c.Model}, canary.Set(string(settings)), c, nil}
		i := slices.IndexFunc(subjects, func(s *canarySubject) bool { return s.Model == one.Model && s.set == one.set })
		if i < 0 {
			i = len(subjects)
			subjects = append(subjects, &one)
		}
		subjects[i].candidates = append(subjects[i].candidates, c.Name)
	}
	return subjects
}

// askCanary observes all models in parallel, as far as their lanes allow, and appends to
// the history. If daily is set it reuses an observation of the same day.
func askCanary(r *runner, ctx context.Context, daily bool) []CanaryFinding {
	subjects := canarySubjects(r)
	history, _, err := canary.Load(r.Runs)
	at := r.today
	if !daily {
		at = r.Now().UTC()
	}
	seen := make([]canary.Observation, len(subjects))
	again := make([]bool, len(subjects))
	var wg sync.WaitGroup
	for i, s := range subjects {
		seen[i] = canary.Observation{Model: s.Model, At: at, Set: s.set}
		if err != nil {
			continue
		}
		if daily {
			if o, ok := canary.Today(history, seen[i]); ok {
				seen[i], again[i] = o, true
				continue
			}
		}
		wg.Go(func() { observeModel(r, ctx, s, &seen[i]) })
	}
	wg.Wait()
	var found []CanaryFinding
	for i, s := range subjects {
		if err != nil {
			seen[i].Problem = err.Error()
		}
		o, f := canary.Judge(history, seen[i])
		if !again[i] && err == nil && ctx.Err() == nil {
			if failed := canary.Append(r.Runs, o); failed != nil {
				f.Problem, f.Status = failed.Error(), manifest.CanaryUnknown
			}
		}
		if again[i] {
			var nothing int64
			f.CostNanoUSD = &nothing
		}
		found = append(found, CanaryFinding{s.Provider, s.Model.Model, s.candidates, drive.Simulated(s.Provider), f})
	}
	return found
}

// canaryTimeout bounds a call, excluding the waits for admission and between attempts.
const canaryTimeout = 2 * time.Minute

// observeModel sends all prompts to a model.
func observeModel(r *runner, ctx context.Context, s *canarySubject, o *canary.Observation) {
	model, err := r.env().PlainModel(s.candidate.Candidate, s.candidate.factory, s.candidate.key, uint64(r.Seed))
	prompts := canary.Prompts()
	replies, errs := make([]providers.Reply, len(prompts)), make([]error, len(prompts))
	var wg sync.WaitGroup
	for i, p := range prompts {
		if err != nil {
			errs[i] = err
			continue
		}
		wg.Go(func() { replies[i], errs[i] = s.ask(ctx, model, p) })
	}
	wg.Wait()
	var served, fingerprints []string
	cost := new(int64)
	for i, p := range prompts {
		reply := replies[i]
		if c, ok := r.Prices.Cost(s.Provider, s.Model.Model, reply.Usage, r.today.Truncate(24*time.Hour)); ok && cost != nil {
			*cost += c
		} else {
			cost = nil
		}
		if errs[i] != nil {
			o.Problem = cmp.Or(o.Problem, r.secrets.Redact("canary", fmt.Sprintf("prompt %s: %.300s", p.ID, errs[i].Error())))
			continue
		}
		served = append(served, r.secrets.Redact("canary", reply.Model))
		fingerprints = append(fingerprints, r.secrets.Redact("canary", reply.Fingerprint))
		var tokens *int64
		if n := reply.Usage.Output + reply.Usage.Reasoning; reply.Usage.Reported {
			tokens = &n
		}
		o.Answers = append(o.Answers, canary.NewAnswer(r.secrets.Redact("canary", reply.Text), tokens, reply.LogProb))
	}
	if o.Problem != "" {
		o.Answers = nil
	}
	o.Served, o.Fingerprints, o.CostNanoUSD = canary.Names(served), canary.Names(fingerprints), cost
}

// ask sends one prompt at temperature 0 with log probabilities. If the provider rejects the
// request, ask omits the log probabilities, then the temperature.
func (s *canarySubject) ask(ctx context.Context, model providers.Model, p canary.Prompt) (reply providers.Reply, err error) {
	zero := 0.0
	call := providers.Call{
		Model: s.Model.Model, Messages: []providers.Message{{Role: providers.RoleUser, Text: p.Text}},
		MaxTokens: canary.MaxTokens, Temperature: &zero, LogProbs: true, Stream: s.candidate.Stream, RequestID: "canary-" + s.set + "-" + p.ID,
	}
	for {
		ctx, cancel := drive.WithBudget(ctx, canaryTimeout)
		reply, err = model.Call(ctx, call)
		cancel()
		failed, ok := errors.AsType[*fault.Error](err)
		switch refused := ok && failed.Kind == fault.InvalidRequest && failed.Status != 0; {
		case refused && call.LogProbs:
			call.LogProbs = false
		case refused && call.Temperature != nil:
			call.Temperature = nil
		default:
			return reply, err
		}
	}
}
