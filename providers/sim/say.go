package sim

// notContract is what the models say to any prompt but the contract's.
const notContract = "This is a simulated model. It only understands the contract prompt."

// say is the model's whole output for a talk, before any cut at limit tokens.
func (p profile) say(t talk, mode outputMode, limit int, d draws) string {
	if log, ok := t.rawLog(); ok {
		return mode.words(compress(log))
	}
	pr, ok := t.prompt()
	if !ok {
		return mode.words(notContract)
	}
	pr.trusting = d.trust < p.trusting
	m := think(p, pr)
	a := m.acts()[0]
	slipped := false
	if slip, drawn := pick(d.decision, p.decision, pr.decisionScale(p)); drawn {
		if wrong, fits := m.misjudge(slip, a, d.decisionDetail); fits {
			a, slipped = wrong, true
		}
	}
	text := a.render(p.confidence.draw(a.unsure, slipped || a.deceived, d.confidence))
	if slip, drawn := pick(d.format, p.format, formScale[formatSlip](p, pr)); drawn && !mode.rulesOut(slip) {
		text = missay(slip, text, d.formatDetail, limit)
	}
	return text
}

// decisionScale multiplies the rates of decision slips: by how hard the task is, and by
// careful for a repeated call after a REFLECT line.
func (p prompt) decisionScale(of profile) func(decisionSlip) float64 {
	scale := of.spread.factor(of.name, p.task())
	return func(slip decisionSlip) float64 {
		if slip == repeatCall && p.reflect {
			return scale * of.careful
		}
		return scale
	}
}

// formScale multiplies the rates of slips of form, in any protocol: by how hard the
// task is, and by careful after a violation.
func formScale[K any](of profile, p prompt) func(K) float64 {
	scale := of.spread.factor(of.name, p.task())
	if p.violated() {
		scale *= of.careful
	}
	return func(K) float64 { return scale }
}

// draw is a confidence in hundredths.
func (c confidence) draw(unsure, slipped bool, bits uint64) int {
	base := c.right
	switch {
	case slipped:
		base = c.slipped
	case unsure:
		base = c.unsure
	}
	return max(1, min(99, base-c.spread+int(bits%uint64(2*c.spread+1))))
}
