package sim

// pair is one label on one date: indexes of labels and of the request's spans.
type pair struct{ label, span int }

// pairUp reads requests that give each label a date of its own, such as "angry
// on Monday and praise on Tuesday": labels and dates take turns, as often one as
// the other. In any other request every label is meant on every date: nil.
func pairUp(items []item, spans []span) []pair {
	type run struct {
		dates   bool
		members []int
	}
	var runs []run
	add := func(dates bool, member int) {
		if n := len(runs); n == 0 || runs[n-1].dates != dates {
			runs = append(runs, run{dates: dates})
		}
		at := &runs[len(runs)-1]
		at.members = append(at.members, member)
	}
	next := 0
	for i, it := range items {
		for next < len(spans) && spans[next].at <= i {
			add(true, next)
			next++
		}
		switch {
		case it.concept == except || it.concept == everyLabel:
			return nil
		case it.concept == label && (it.text != "info" || !genericInfo(items, i)):
			add(false, it.n)
		}
	}
	if len(runs) < 4 || len(runs)%2 != 0 || next < len(spans) {
		return nil
	}
	var out []pair
	for i := 0; i < len(runs); i += 2 {
		wanted, on := runs[i], runs[i+1]
		if wanted.dates {
			wanted, on = on, wanted
		}
		for _, s := range on.members {
			for _, l := range wanted.members {
				out = append(out, pair{l, s})
			}
		}
	}
	return out
}
