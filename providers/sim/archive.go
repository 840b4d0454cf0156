package sim

// Bounds of an archive; beyond them the oldest entries are forgotten.
const (
	maxArchived      = 4096
	maxArchivedBytes = 32 << 20
)

// archive remembers values by id, within bounds. The zero value is empty. It is
// not safe for concurrent use.
type archive[V any] struct {
	entries map[string]archived[V]
	order   []string // ids, oldest first
	bytes   int
}

type archived[V any] struct {
	value V
	bytes int
}

func (a *archive[V]) get(id string) (V, bool) {
	e, ok := a.entries[id]
	return e.value, ok
}

// put stores a value of a size in bytes; an id that is known keeps its place.
func (a *archive[V]) put(id string, value V, bytes int) {
	if a.entries == nil {
		a.entries = map[string]archived[V]{}
	}
	old, known := a.entries[id]
	if !known {
		a.order = append(a.order, id)
	}
	a.entries[id] = archived[V]{value, bytes}
	a.bytes += bytes - old.bytes
	for len(a.order) > maxArchived || a.bytes > maxArchivedBytes {
		a.bytes -= a.entries[a.order[0]].bytes
		delete(a.entries, a.order[0])
		a.order = a.order[1:]
	}
}
