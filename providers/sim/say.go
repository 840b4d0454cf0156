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
	if slip, drawn := pick(d.decision, p.decision, pr.decisionCare(p)); drawn {
		if wrong, fits := m.misjudge(slip, a, d.decisionDetail); fits {
			a, slipped = wrong, true
		}
	}
	text := a.render(p.confidence.draw(a.unsure, slipped || a.deceived, d.confidence))
	if slip, drawn := pick(d.format, p.format, pr.formatCare(p)); drawn && !mode.rulesOut(slip) {
		text = missay(slip, text, d.formatDetail, limit)
	}
	return text
}

// decisionCare makes a model less likely to repeat a call when told to reflect.
func (p prompt) decisionCare(of profile) func(decisionSlip) float64 {
	return func(slip decisionSlip) float64 {
		if slip == repeatCall && p.reflect {
			return of.careful
		}
		return 1
	}
}

// formatCare makes a model more careful after a violation.
func (p prompt) formatCare(of profile) func(formatSlip) float64 {
	care := 1.0
	if p.violated() {
		care = of.careful
	}
	return func(formatSlip) float64 { return care }
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
