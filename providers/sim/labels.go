package sim

import "slices"

// labelReading is all a request says about labels.
type labelReading struct {
	// labels are the ones asked for, in the order asked; indexes of labels.
	labels []int
	// ambiguous says that a near-synonym stands where a label should.
	ambiguous bool
	// invalid is a word in a label's place that is no label; empty otherwise.
	invalid string
	// every says that all labels were meant without naming them.
	every bool
}

// readLabels finds the labels of a request.
func readLabels(items []item) labelReading {
	var r labelReading
	var excluded []int
	excluding := false
	for i, it := range items {
		switch it.concept {
		case except:
			excluding = true
		case label:
			switch {
			case it.text == "info" && genericInfo(items, i):
			case excluding:
				excluded = append(excluded, it.n)
			case !slices.Contains(r.labels, it.n):
				r.labels = append(r.labels, it.n)
			}
		case everyLabel:
			r.every = true
		case synonym:
			r.ambiguous = r.ambiguous || !besideLabel(items, i)
		}
	}
	if len(excluded) > 0 && len(r.labels) == 0 {
		r.labels = remaining(excluded)
	}
	if len(r.labels) > 0 {
		r.every = false
	}
	if r.every {
		r.labels = remaining(nil)
	}
	if len(r.labels) == 0 && !r.ambiguous {
		r.invalid = strayLabel(items)
	}
	return r
}

// remaining are all labels but the excluded ones.
func remaining(excluded []int) []int {
	var out []int
	for i := range labels {
		if !slices.Contains(excluded, i) {
			out = append(out, i)
		}
	}
	return out
}

// genericInfo reports whether "info" at i is the noun of "info on the angry
// messages" and not the label: another label follows its "on" or "about".
func genericInfo(items []item, i int) bool {
	if i+1 >= len(items) {
		return false
	}
	switch items[i+1].text {
	case "on", "about", "regarding", "for":
	default:
		return false
	}
	for _, it := range items[i+2:] {
		switch it.concept {
		case label:
			return true
		case filler, counting, of:
		default:
			return false
		}
	}
	return false
}

// besideLabel reports whether a label stands right next to the synonym at i, as
// in "complaints (angry)" and "angry complaints", and settles it.
func besideLabel(items []item, i int) bool {
	for _, step := range []int{-1, 1} {
		j := i + step
		for j >= 0 && j < len(items) && (items[j].concept == symbol && items[j].text != "," && items[j].text != "." || items[j].concept == marker) {
			j += step
		}
		if j >= 0 && j < len(items) && items[j].concept == label {
			return true
		}
	}
	return false
}

// strayLabel finds a word that stands where only a label can: right before the
// messages, or after the word label.
func strayLabel(items []item) string {
	for i, it := range items {
		switch it.concept {
		case message:
			if i > 0 && items[i-1].concept == unknown {
				return items[i-1].text
			}
		case marker:
			j := i + 1
			for j < len(items) && (items[j].concept == symbol || items[j].concept == filler) {
				j++
			}
			if j < len(items) && items[j].concept == unknown {
				return items[j].text
			}
		}
	}
	return ""
}
