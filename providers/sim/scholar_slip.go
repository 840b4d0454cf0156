package sim

import (
	"slices"
	"strconv"
)

// misjudge gives the action to take after a decision slip, and says whether the slip
// fits the turn at all.
func (s *researchModel) misjudge(slip decisionSlip, a action, detail uint64) (action, bool) {
	wrong, fits := s.slipUp(slip, a, detail)
	if fits {
		wrong = s.explain(wrong)
	}
	return wrong, fits
}

// slipUp is misjudge but for the plan.
func (s *researchModel) slipUp(slip decisionSlip, a action, detail uint64) (action, bool) {
	calls := a.kind == useTool
	switch slip {
	case wrongLabel:
		return s.confuse(a, detail)
	case offByOne:
		return s.overlook(a, detail)
	case repeatCall:
		if s.lib.last == nil || s.lib.noCalls || a.kind == clarify {
			return a, false
		}
		return *s.lib.last, true
	case needlessClarify:
		if s.lib.asked || a.kind == clarify {
			return a, false
		}
		return ask("Just to be sure, which lighthouses do you mean, and what should I look up?"), true
	case skipToday:
		if !calls || a.name == searchTool || a.name == openTool || s.study.best == nil && len(s.study.tests) == 0 {
			return a, false
		}
		s.fromNames = true
		s.invent = imagined(detail)
		return s.concludeNow(a)
	case inventNumber:
		answering := a.kind == respond && !a.stuck && len(s.lib.facts) > 0
		if !answering && (!calls || a.name == searchTool) {
			return a, false
		}
		if answering {
			s.lib.facts = map[valueKey]stated{}
		}
		s.invent = imagined(detail)
		return s.concludeNow(a)
	}
	return a, false
}

// concludeNow answers without another call, if that takes no search.
func (s *researchModel) concludeNow(a action) (action, bool) {
	w := &work{s: s}
	out := w.solve(s.study)
	if len(w.needs) > 0 || out.message == "" {
		return a, false
	}
	return out, true
}

// imagined makes figures up, as if remembered from training.
func imagined(detail uint64) func(valueKey) stated {
	designers := []string{"Robert Gale", "Anna Lund", "John Ferris"}
	return func(d valueKey) stated {
		salt := detail
		for _, b := range []byte(d.id + "." + d.field) {
			salt = salt*1099511628211 + uint64(b)
		}
		salt >>= 17
		var n uint64
		switch d.field {
		case heightField:
			n = 15 + salt%50
		case rangeField:
			n = 9 + salt%20
		case builtField:
			n = 1840 + salt%80
		case automatedField:
			n = 1965 + salt%35
		case regionField:
			return stated{text: []string{"north coast", "south coast", "east coast", "west coast"}[salt%4], recorded: true}
		case lampField:
			return stated{text: []string{"oil", "electric", "gas"}[salt%3], recorded: true}
		default:
			return stated{text: designers[salt%uint64(len(designers))], recorded: true}
		}
		return stated{text: strconv.FormatUint(n, 10), n: float64(n), number: true, recorded: true}
	}
}

// fieldBeside is the field that each is taken for.
var fieldBeside = map[string]string{
	heightField: rangeField, rangeField: heightField, builtField: automatedField, automatedField: builtField,
	designerField: regionField, regionField: designerField, lampField: designerField,
}

// confuse asks for a neighbouring document or field, or searches another coast.
func (s *researchModel) confuse(a action, detail uint64) (action, bool) {
	args, _ := a.args.(obj)
	switch a.name {
	case extractTool, openTool:
		id, _ := args["id"].(string)
		var others []string
		for _, h := range s.lib.found {
			others = append(others, slices.DeleteFunc(slices.Clone(h.ids), func(o string) bool { return o == id })...)
		}
		field, _ := args["field"].(string)
		if beside := fieldBeside[field]; beside != "" && (len(others) == 0 || detail&1 == 1) {
			a.args = obj{"id": id, "field": beside}
			return a, true
		}
		if len(others) == 0 {
			return a, false
		}
		wrong := obj{"id": others[detail>>1%uint64(len(others))]}
		if field != "" {
			wrong["field"] = field
		}
		a.args = wrong
		return a, true
	case searchTool:
		if len(s.study.pools) == 0 {
			return a, false
		}
		wrong := obj{"query": []string{"north coast", "south coast", "east coast", "west coast"}[detail%4]}
		if wrong["query"] == args["query"] {
			wrong["query"] = "lighthouse"
		}
		a.args = wrong
		return a, true
	}
	return a, false
}

// overlook misses one of the hits: the one that is to be read, or any when all are
// read. It shows only in what is concluded.
func (s *researchModel) overlook(a action, detail uint64) (action, bool) {
	ids, ok := (&work{s: s, final: true}).lights(s.study)
	if !ok || len(ids) < 2 {
		return a, false
	}
	s.skip = ids[detail%uint64(len(ids))]
	if args, _ := a.args.(obj); args["id"] != nil {
		s.skip, _ = args["id"].(string)
	}
	if now := s.decide()[0]; (now.kind == respond || now.name == compareTool) && now.message != a.message {
		return now, true
	}
	return a, false
}
