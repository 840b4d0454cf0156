package external

import (
	"context"
	"os"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// An episode of an external agent has two halves. In the first, the agent acts: while it is
// recorded or live, against models and the world. The second makes the recorded calls again,
// over a replay of what the first exchanged, and gives the rows. So the rows are the same in
// every mode, and do not depend on the order in which parallel calls arrive.

// Run runs an episode of an external agent.
func (h *Hosts) Run(ctx context.Context, v *drive.Env, p *drive.Planned, trace func(episode.Trace)) ledger.EpisodeRows {
	r, out := h.act(ctx, v, *p)
	w := *v
	w.Human, w.Tools = nil, r.tools(v.Tools)
	if v.Mode != recorder.Replay && v.Human != nil {
		w.Human = r.human()
	}
	if h.WithAgent {
		w.Scoring = drive.ScoreAgain // the agent may answer otherwise than when it was recorded
	}
	if out.Replay != nil {
		m, err := newMachine(p.Params, r, Wires{v.Factories, v.Prices, v.PriceDay(out.Replay)}, out.Replay)
		if err == nil {
			out.Machine, err = m, r.useUp(out.Replay)
		}
		if out.Err == nil {
			out.Err = err
		}
	}
	out.Failure, out.Hosts = r.End.Failure, r.End.Hosts
	rows := w.Repeat(ctx, p, out, trace)
	r.setRetries(rows.Turns)
	return rows
}

// setRetries sets the retry index of the turns of a record. A request whose reply the agent did
// not wait for has failed for it.
func (r Record) setRetries(turns []ledger.Turn) {
	failed := map[string]int32{}
	for _, c := range r.Calls {
		if c.Model == nil || c.Model.free() {
			continue
		}
		if len(turns) == 0 { // the episode ended before
			return
		}
		t := &turns[0]
		turns = turns[1:]
		t.RetryIndex = failed[c.Model.Digest]
		if t.ErrorKind != "" || c.Model.Abandoned {
			failed[c.Model.Digest]++
		} else {
			delete(failed, c.Model.Digest)
		}
	}
}

// act is the first half of an episode: what the agent did, when it was recorded or now.
func (h *Hosts) act(ctx context.Context, v *drive.Env, p drive.Planned) (r Record, out drive.Repeated) {
	if v.Mode == recorder.Replay {
		if out.Replay, out.Err = v.NewRecorder(p); out.Err == nil {
			r, out.Err = decode(out.Replay.Recording(""))
		}
		if out.Err == nil && h.WithAgent {
			r, out.Err = h.again(ctx, v, p, r, out.Replay.Again(false))
		}
		return r, out
	}
	host, err := h.of(ctx, p.Candidate)
	if err != nil {
		return r, drive.Repeated{Err: err}
	}
	w := *v
	if v.Mode == recorder.Live { // the second half needs a recording, too
		dir, err := os.MkdirTemp(host.Folder, "live-")
		if err != nil {
			return r, drive.Repeated{Err: err}
		}
		defer func() { _ = os.RemoveAll(dir) }() // its content is in memory
		w.Mode, w.Store, w.Resumed = recorder.Record, recorder.Dir(dir), false
	}
	rec, err := w.NewRecorder(p)
	if err != nil {
		return r, drive.Repeated{Err: err}
	}
	sender := &Sender{
		Upstream: h.upstreams[p.Candidate.Name], Wires: Wires{v.Factories, v.Prices, v.PriceDay(rec)}, Base: v.Base,
		Recorder: rec, Control: v.Control, Candidate: p.Candidate.Name, Episode: traceID(p), Run: ctx,
	}
	r, out.Err = host.live(ctx, act{&w, p, sender})
	out.Replay = rec.Again(v.Mode == recorder.Record)
	return r, out
}

// again runs the agent of a recorded episode.
func (h *Hosts) again(ctx context.Context, v *drive.Env, p drive.Planned, r Record, rec *recorder.Recorder) (Record, error) {
	host, err := h.of(ctx, p.Candidate)
	if err != nil {
		return r, err
	}
	return host.again(ctx, v, p, &rerun{record: r, rec: rec, upstream: h.upstreams[p.Candidate.Name], wires: Wires{v.Factories, v.Prices, v.PriceDay(rec)}})
}
