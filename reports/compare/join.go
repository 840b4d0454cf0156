package compare

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// twin is a trial of a task on both sides.
type twin struct {
	baseline, new *record
	// block is that of the baseline's trial.
	block int32
}

// scored says that both have a result.
func (t twin) scored() bool { return t.baseline.why == scored && t.new.why == scored }

// block pairs the trials of a baseline run with those of the new run: their
// numbers are counted on from shift. Trials of one block are of one baseline run, or
// of several that have fewer trials than the new run and together no more.
type block struct{ number, shift int32 }

// blocks places the baseline runs, in their order.
func blocks(baselines []*side, trials int) []block {
	list, next := make([]block, len(baselines)), block{}
	for i, s := range baselines {
		if next.shift > 0 && int(next.shift)+s.manifest.Trials > trials {
			next = block{number: next.number + 1}
		}
		list[i] = next
		next.shift += int32(min(max(1, s.manifest.Trials), 1<<20)) // a manifest may claim anything
	}
	return list
}

// joined is one task of a pair, with its episodes of both sides.
type joined struct {
	id, title string
	// cluster is that of manifest.Task.Cluster.
	cluster string
	known   *KnownFlaky
	// baseline are those of all baseline runs, by run.
	baseline, new []record
	// twins are the trials both have; scored those with a result on both sides. With
	// several baseline runs a trial of the new run is in several.
	twins, scored []twin
}

// left says whether the task is left out of gating metrics.
func (j *joined) left() bool { return j.known != nil && !j.known.Expired }

// match pairs the episodes of a task by trial, with each baseline run.
func (j *joined) match(places []block) {
	most := min(len(j.baseline), len(j.new)*len(places))
	j.twins, j.scored = make([]twin, 0, most), make([]twin, 0, most)
	k, run := 0, int32(0)
	for i := range j.baseline {
		p := &j.baseline[i]
		if p.run != run {
			k, run = 0, p.run
		}
		trial := int64(p.trial) + int64(places[run].shift)
		for k < len(j.new) && int64(j.new[k].trial) < trial {
			k++
		}
		if k == len(j.new) || int64(j.new[k].trial) != trial {
			continue
		}
		t := twin{p, &j.new[k], places[run].number}
		j.twins = append(j.twins, t)
		if t.scored() {
			j.scored = append(j.scored, t)
		}
	}
}

// unpaired counts the episodes of both sides that have no partner.
func (j *joined) unpaired() (baseline, newer int) {
	paired := map[*record]bool{}
	for _, t := range j.twins {
		paired[t.new] = true
	}
	return len(j.baseline) - len(j.twins), len(j.new) - len(paired)
}

// replayed says that both sides of every pair with a result, and there are some, are
// one recording.
func replayed(tasks []joined) bool {
	found := false
	for i := range tasks {
		for _, t := range tasks[i].scored {
			if found = true; t.baseline.cassette == 0 || t.baseline.cassette != t.new.cassette {
				return false
			}
		}
	}
	return found
}

// join is every task of a pair, in the order of the new run, those it lacks
// after them. Skipped tasks are left out.
func (b *Builder) join(names Names, skip map[string][]string) []joined {
	list := make([]joined, 0, len(b.new.manifest.Tasks))
	seen := map[string]bool{}
	newer, places := b.new.candidates[names.New], blocks(b.baselines, b.new.manifest.Trials)
	add := func(t manifest.Task) {
		if _, skipped := skip[t.ID]; skipped || seen[t.ID] {
			return
		}
		seen[t.ID] = true
		j := joined{id: t.ID, title: t.Title, cluster: t.Cluster(), known: b.rules.known(t.ID, names), new: newer.sorted(t.ID)}
		for i, s := range b.baselines {
			if records := s.candidates[names.Baseline].sorted(t.ID); i == 0 {
				j.baseline = slices.Clip(records)
			} else {
				j.baseline = append(j.baseline, records...)
			}
		}
		j.match(places)
		list = append(list, j)
	}
	for i, s := range slices.Concat([]*side{b.new}, b.baselines) {
		name := names.Baseline
		if i == 0 {
			name = names.New
		}
		for _, t := range s.manifest.Tasks {
			add(t)
		}
		for _, t := range s.candidates[name].tasks {
			add(manifest.Task{ID: t.id})
		}
	}
	return list
}
