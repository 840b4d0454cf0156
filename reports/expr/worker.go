package expr

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/column"
)

// worker gathers row groups, one at a time.
type worker struct {
	*Query
	file    *column.File
	batch   batch
	where   evaluator
	args    []evaluator // nil for count()
	episode int         // the column of episode ids, -1 if nobody asks
	group   []int32
	dense   []int32
	sparse  map[[2]int32]int32
	codes   map[float64]int32
	code    []int32
	nulls   []bool // of solved
}

func newWorker(q *Query, file *column.File) *worker {
	w := &worker{Query: q, file: file, episode: slices.Index(q.columns, "episode_id")}
	w.batch.columns = make([]column.Vector, max(1, len(q.columns)))
	if q.where != nil {
		w.where = compile(q.where)
	}
	for _, s := range q.slots {
		if s.arg == nil {
			w.args = append(w.args, nil)
		} else {
			w.args = append(w.args, compile(s.arg))
		}
	}
	return w
}

// gather reads a row group.
func (w *worker) gather(g int) (p part) {
	p.rows = w.file.Rows(g)
	if p.err = w.file.Read(g, w.batch.columns); p.err != nil {
		return p
	}
	w.batch.rows = p.rows
	p.groups = w.fold()
	return p
}

// fold gathers what is in the batch.
func (w *worker) fold() []group {
	if w.scored != nil {
		w.hideUnscored()
	}
	groups := w.assign()
	if len(groups) == 0 {
		return nil
	}
	cells := make([]cell, len(groups)*len(w.slots))
	for s := range w.slots {
		own := cells[s*len(groups) : (s+1)*len(groups)]
		var v value
		if w.args[s] != nil {
			v = w.args[s](&w.batch)
		}
		w.slots[s].add(v, w.group, own)
		if w.slots[s].episodes {
			ids := &w.batch.columns[w.episode]
			addEpisodes(value{index: ids.Index, words: ids.Words}, w.group, own)
		}
	}
	for i := range groups {
		groups[i].cells = make([]cell, len(w.slots))
		for s := range w.slots {
			groups[i].cells[s] = cells[s*len(groups)+i]
		}
	}
	return groups
}

// hideUnscored makes solved null in episodes without a result: an infrastructure
// failure is not the model's, so it is neither solved nor unsolved.
func (w *worker) hideUnscored() {
	solved, status, infra := &w.batch.columns[w.scored[0]], &w.batch.columns[w.scored[1]], &w.batch.columns[w.scored[2]]
	w.nulls = fit(w.nulls, w.batch.rows)
	for i := range w.nulls {
		w.nulls[i] = ledger.ExcludedBy(status.Words[status.Index[i]], infra.Bools[i]) != ""
	}
	solved.Nulls = w.nulls
}

// assign puts every row that is wanted into its group, in w.group, and returns the
// groups.
func (w *worker) assign() []group {
	w.group = fit(w.group, w.batch.rows)
	clear(w.group)
	found := w.batch.rows > 0
	if w.where != nil {
		v := w.where(&w.batch)
		found = false
		for i := range w.group {
			if v.is[i] && (v.null == nil || !v.null[i]) {
				found = true
			} else {
				w.group[i] = -1
			}
		}
	}
	if !found {
		return nil
	}
	groups := []group{{}}
	for _, column := range w.Query.group {
		groups = w.split(groups, column)
	}
	return groups
}

// split divides groups by one more column.
func (w *worker) split(groups []group, column *node) []group {
	v := &w.batch.columns[column.slot]
	code, codes := w.coded(v, column.typ)
	var out []group
	lookup := w.table(len(groups), codes)
	for i, g := range w.group {
		if g < 0 {
			continue
		}
		c := code[i]
		at := lookup(g, c)
		if *at == 0 {
			key := append(slices.Clone(groups[g].key), cellOf(v, column.typ, i))
			out = append(out, group{key: key})
			*at = int32(len(out))
		}
		w.group[i] = *at - 1
	}
	return out
}

// table finds the place of a new group by an old one and a code; 0 is none.
func (w *worker) table(groups, codes int) func(g, code int32) *int32 {
	if groups*codes <= 1<<16 {
		w.dense = fit(w.dense, groups*codes)
		clear(w.dense)
		return func(g, code int32) *int32 { return &w.dense[int(g)*codes+int(code)] }
	}
	places := []*int32{}
	w.sparse = map[[2]int32]int32{}
	return func(g, code int32) *int32 {
		k := [2]int32{g, code}
		i, ok := w.sparse[k]
		if !ok {
			i = int32(len(places))
			w.sparse[k] = i
			places = append(places, new(int32))
		}
		return places[i]
	}
}

// coded numbers the values of a column from 0.
func (w *worker) coded(v *column.Vector, typ Type) (code []int32, codes int) {
	if typ == Text {
		return v.Index, len(v.Words)
	}
	w.code = fit(w.code, w.batch.rows)
	if typ == Bool {
		for i, is := range v.Bools {
			switch {
			case v.Nulls != nil && v.Nulls[i]:
				w.code[i] = 0
			case is:
				w.code[i] = 2
			default:
				w.code[i] = 1
			}
		}
		return w.code, 3
	}
	w.codes = map[float64]int32{}
	for i, x := range v.Numbers {
		switch {
		case v.Nulls != nil && v.Nulls[i] || x != x:
			w.code[i] = 0
		case i > 0 && x == v.Numbers[i-1] && w.code[i-1] > 0:
			w.code[i] = w.code[i-1]
		default:
			c, ok := w.codes[x]
			if !ok {
				c = int32(len(w.codes) + 1)
				w.codes[x] = c
			}
			w.code[i] = c
		}
	}
	return w.code, len(w.codes) + 1
}

func cellOf(v *column.Vector, typ Type, row int) Cell {
	switch {
	case v.Nulls != nil && v.Nulls[row]:
		return Cell{Null: true}
	case typ == Text:
		return Cell{Text: v.Words[v.Index[row]]}
	case typ == Bool:
		return Cell{Bool: v.Bools[row]}
	}
	return Cell{Number: v.Numbers[row]}
}
