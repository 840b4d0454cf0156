package fleets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/fleet"
)

func newStatus(h func() Host) *cobra.Command {
	var conn connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the run and the workers of a queue",
		Long: `Shows the run in progress, its costs, the episodes that wait, and every worker: what it does,
or why it refuses the run. It works from any machine that reaches the queue.
Details: docs/scale.md.`,
		Example: `  cupel-fleet status --queue nats://127.0.0.1:4222
  cupel-fleet status --queue tls://queue.internal:4222 --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			host := h()
			access, err := conn.access(host)
			if err != nil {
				return err
			}
			q, err := host.Service.Dial(c.Context(), access)
			if err != nil {
				return err
			}
			s, err := q.Status(c.Context())
			_ = q.Close() // it was only read
			if err != nil {
				return err
			}
			if asJSON {
				text, err := json.MarshalIndent(s, "", "  ")
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(host.JSON, "%s\n", text)
				return err
			}
			return show(host, s, conn.resume)
		},
	}
	conn.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// show prints a status. resume is the command that resumes a run.
func show(h Host, s fleet.Status, resume func(run string) string) error {
	if s.Run == nil {
		_, _ = fmt.Fprintf(h.Stdout, "fleet %s: no run in progress\n", s.Name)
	} else {
		showRun(h, s, resume)
	}
	if len(s.Workers) == 0 {
		_, err := fmt.Fprintln(h.Stdout, "no workers")
		return err
	}
	w := console.Table(h.Stdout)
	w.AppendHeader(table.Row{"worker", "state", "in flight", "done", "reason"})
	for _, o := range s.Workers {
		w.AppendRow(table.Row{console.Line(o.Name), o.State, o.InFlight, o.Done, console.OneLine(o.Reason, 200)})
	}
	w.Render()
	showLimits(h, s)
	return nil
}

// showLimits prints the limits in force of every provider and key, for all workers together.
func showLimits(h Host, s fleet.Status) {
	type lane struct {
		provider string
		key      int
	}
	sums, spent := map[lane]*fleet.LaneStatus{}, map[string]admission.Spend{}
	workers := map[lane]int{}
	for _, o := range s.Workers {
		counted := map[string]bool{}
		for _, l := range o.Lanes {
			at := lane{l.Provider, l.Key}
			if sums[at] == nil {
				sums[at] = &fleet.LaneStatus{}
			}
			sum := sums[at]
			sum.Limit, sum.InFlight, sum.Waiting = sum.Limit+l.Limit, sum.InFlight+l.InFlight, sum.Waiting+l.Waiting
			if l.Paused != nil && (sum.Paused == nil || l.Paused.After(*sum.Paused)) {
				sum.Paused = l.Paused
			}
			workers[at]++
			if !counted[l.Provider] {
				counted[l.Provider] = true
				spent[l.Provider] = spent[l.Provider].Plus(l.Spent)
			}
		}
	}
	if len(sums) == 0 {
		return
	}
	w := console.Table(h.Stdout)
	w.AppendHeader(table.Row{"provider", "key", "workers", "in parallel", "in flight", "waiting", "requests/min", "tokens/min", "paused until", "spent", "cap"})
	for _, at := range slices.SortedFunc(maps.Keys(sums), func(a, b lane) int {
		return cmp.Or(strings.Compare(a.provider, b.provider), cmp.Compare(a.key, b.key))
	}) {
		sum, limits := sums[at], s.Limits[at.provider]
		paused := ""
		if sum.Paused != nil {
			paused = sum.Paused.UTC().Format("15:04:05Z")
		}
		w.AppendRow(table.Row{console.Line(at.provider), at.key, workers[at], sum.Limit, sum.InFlight, sum.Waiting,
			unlimited(limits.RequestsPerMinute), unlimited(limits.TokensPerMinute), paused, dollars(spent[at.provider].CostNanoUSD), dollarCap(limits.CostNanoUSD)})
	}
	_, _ = fmt.Fprintln(h.Stdout)
	w.Render()
}

func unlimited(n int64) string {
	if n == 0 {
		return "–"
	}
	return console.Decimal(n)
}

func dollarCap(nano int64) string {
	if nano == 0 {
		return "–"
	}
	return dollars(nano)
}

func dollars(nano int64) string { return "$" + console.USD(nano) }

func showRun(h Host, s fleet.Status, resume func(run string) string) {
	r := s.Run
	_, _ = fmt.Fprintf(h.Stdout, "fleet %s: run %s of %s, mode %s\n", s.Name, console.Line(r.RunID), console.Line(r.Suite), console.Line(r.Mode))
	if !s.Coordinated {
		_, _ = fmt.Fprintf(h.Stdout, "coordinator  none: continue with %s\n", console.Line(resume(r.RunID)))
	} else {
		cost := dollars(r.CostNanoUSD)
		if r.CostUnknown {
			cost += " and an unknown part"
		}
		_, _ = fmt.Fprintf(h.Stdout, "coordinator  %s\nepisodes     %d of %d done, %d solved, %d without a result\ncost         %s, %d tokens, %d requests, %d retries\n",
			console.Line(r.Coordinator), r.Done, r.Total, r.Solved, r.Excluded, cost, r.Tokens, r.Requests, r.Retries)
		if s.Spent != nil {
			_, _ = fmt.Fprintf(h.Stdout, "spent        %s of %s, %s granted to workers; %s of %s requests, %s of %s tokens\n", dollars(s.Spent.CostNanoUSD), dollarCap(s.Caps.CostNanoUSD),
				dollars(s.Granted.CostNanoUSD), console.Decimal(s.Spent.Requests), unlimited(s.Caps.Requests), console.Decimal(s.Spent.Tokens), unlimited(s.Caps.Tokens))
		}
		if r.Redelivered > 0 {
			_, _ = fmt.Fprintf(h.Stdout, "taken over   %d units of lost workers, with %d exchanges that were not asked again\n", r.Redelivered, r.Resumed)
		}
		if r.Stopping != "" {
			_, _ = fmt.Fprintf(h.Stdout, "stopping     %s\n", console.Line(r.Stopping))
		}
	}
	_, _ = fmt.Fprintf(h.Stdout, "queue        %d waiting, %d taken, %d returned\n\n", s.Queued, s.Taken, s.Returned)
}
