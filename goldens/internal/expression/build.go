package expression

import (
	"encoding/json"
	"maps"
)

// JSON returns the value of EvalIn as the function JSON does, without making the objects
// and lists that a file gives as such.
func (p *Program) JSON(env *Env, limit int) (json.RawMessage, error) {
	_, text, err := p.built(env, limit, false)
	return text, err
}

// Keep returns the value of EvalIn as Plain does, and its text as JSON does.
func (p *Program) Keep(env *Env, limit int) (any, json.RawMessage, error) {
	return p.built(env, limit, true)
}

func (p *Program) built(env *Env, limit int, keep bool) (any, json.RawMessage, error) {
	w := writer{out: env.room(16 + 32*len(p.parts)), limit: limit}
	v, err := p.build(env, &w, keep, 0)
	if err == nil {
		err = w.check()
	}
	return v, env.written(w.out), err
}

// build writes the program's value and, if keep is true, returns it as a value to keep.
func (p *Program) build(env *Env, w *writer, keep bool, level int) (any, error) {
	if p.parts == nil {
		v, err := p.EvalIn(env)
		if err == nil && keep {
			v, err = Plain(v, w.limit)
		}
		if err == nil {
			err = w.value(v, level)
		}
		return v, err
	}
	var members map[string]any
	var items []any
	if keep {
		members = maps.Clone(p.object)
	}
	for i, part := range p.parts {
		w.out = append(w.out, p.before[i]...)
		v, err := part.build(env, w, keep, level+1)
		switch {
		case err != nil:
			return nil, err
		case members != nil:
			members[p.keys[i]] = v
		case keep:
			items = append(items, v)
		}
	}
	w.out = append(w.out, p.after...)
	if members != nil {
		return members, nil
	}
	return items, nil
}
