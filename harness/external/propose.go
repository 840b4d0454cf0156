package external

import (
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/mcphost"
)

// finished are the calls of a session that has ended, each tool call with the reply that
// proposed it: the first one before it, by name and arguments, whose proposal no other call
// has; the caller has locked. A model call that was never exchanged is left out.
func (s *Session) finished() []Call {
	type proposal struct{ turn, nth int }
	byKey := map[string][]proposal{}
	var out []Call
	for i, c := range s.calls {
		if c.Model != nil && c.Model.Digest == "" || c == (Call{At: c.At}) {
			continue
		}
		out = append(out, c)
		if c.Model != nil {
			for n, p := range s.replies[i+1] {
				key := s.key(p.Name, p.Args)
				byKey[key] = append(byKey[key], proposal{len(out), n + 1})
			}
		}
		if c.Tool == nil {
			continue
		}
		key := s.key(c.Tool.Name, string(c.Tool.Args))
		if list := byKey[key]; len(list) > 0 {
			called := *c.Tool
			called.Turn, called.Nth = list[0].turn, list[0].nth
			out[len(out)-1].Tool, byKey[key] = &called, list[1:]
		}
	}
	return out
}

// key identifies a call by name and arguments.
func (s *Session) key(name, args string) string {
	call := tool.Call{Name: name, Args: []byte(args)}
	if plain, ok := mcphost.Name(name, s.known); ok {
		call.Name = plain
	}
	if key, _, err := tool.Key(call); err == nil {
		return key
	}
	return call.Name + "|" + args
}
