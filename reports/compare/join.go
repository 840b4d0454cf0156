package compare

// twin is a trial of a task on both sides.
type twin struct{ baseline, new *record }

// scored says that both have a result.
func (t twin) scored() bool { return t.baseline.why == scored && t.new.why == scored }

// joined is one task of a pair, with its episodes of both sides.
type joined struct {
	id, title     string
	known         *KnownFlaky
	baseline, new []record
	// twins are the trials both have; scored those with a result on both sides.
	twins, scored []twin
}

// left says whether the task is left out of gating metrics.
func (j *joined) left() bool { return j.known != nil && !j.known.Expired }

// match pairs the episodes of a task by trial.
func (j *joined) match() {
	most := min(len(j.baseline), len(j.new))
	j.twins, j.scored = make([]twin, 0, most), make([]twin, 0, most)
	for a, b := 0, 0; a < len(j.baseline) && b < len(j.new); {
		p, q := &j.baseline[a], &j.new[b]
		switch {
		case p.trial < q.trial:
			a++
		case p.trial > q.trial:
			b++
		default:
			t := twin{p, q}
			j.twins = append(j.twins, t)
			if t.scored() {
				j.scored = append(j.scored, t)
			}
			a, b = a+1, b+1
		}
	}
}

// replayed says that both sides of every pair with a result, and there are some, are
// one recording.
func replayed(tasks []joined) bool {
	found := false
	for i := range tasks {
		for _, t := range tasks[i].scored {
			if found = true; t.baseline.tape == 0 || t.baseline.tape != t.new.tape {
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
	base, newer := b.baseline.books[names.Baseline], b.new.books[names.New]
	add := func(id, title string) {
		if _, skipped := skip[id]; skipped || seen[id] {
			return
		}
		seen[id] = true
		j := joined{id: id, title: title, known: b.rules.known(id, names), baseline: base.sorted(id), new: newer.sorted(id)}
		j.match()
		list = append(list, j)
	}
	for _, s := range []struct {
		*side
		*book
	}{{b.new, newer}, {b.baseline, base}} {
		for _, t := range s.manifest.Tasks {
			add(t.ID, t.Title)
		}
		for _, t := range s.tasks {
			add(t.id, "")
		}
	}
	return list
}
