package sim

// steps breaks the request into counts.
func (m *mind) steps() []planStep {
	return []planStep{{ID: "answer", Instructions: m.prompt.request, DependsOn: []string{}, Tools: []string{todayRange, getCounts}}}
}
