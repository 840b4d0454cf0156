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
	m := newMind(p, pr)
	m.trusting = d.trust < p.trusting
	a := m.next()
	slipped := false
	if slip, drawn := pick(d.decision, p.decision, m.decisionCare); drawn {
		if wrong, fits := m.misjudge(slip, a, d.decisionDetail); fits {
			wrong.plan, wrong.observation = m.plan(wrong), a.observation
			a, slipped = wrong, true
		}
	}
	text := a.render(p.confidence.draw(a.unsure, slipped || m.deceived, d.confidence))
	if slip, drawn := pick(d.format, p.format, m.formatCare); drawn && !mode.rulesOut(slip) {
		text = missay(slip, text, d.formatDetail, limit)
	}
	return text
}

// decisionCare makes a model less likely to repeat a call when told to reflect.
func (m *mind) decisionCare(slip decisionSlip) float64 {
	if slip == repeatCall && m.prompt.reflect {
		return m.profile.careful
	}
	return 1
}

// formatCare makes a model more careful after a violation.
func (m *mind) formatCare(formatSlip) float64 {
	if m.notes.violated {
		return m.profile.careful
	}
	return 1
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
