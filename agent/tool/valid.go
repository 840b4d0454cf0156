package tool

import (
	"strconv"
	"sync"
)

// Bounds of what validCalls remembers: half a megabyte.
const (
	maxValid     = 1024
	maxValidArgs = 512 // bytes
)

// validCalls remembers calls that were found valid, the first ones: the same
// call is judged and then checked again before it runs, and episodes of a task
// make the same calls.
type validCalls struct {
	mu    sync.RWMutex
	calls map[string]map[string]bool // args by tool
	count int
}

func (v *validCalls) has(c Call) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.calls[c.Name][string(c.Args)]
}

func (v *validCalls) add(c Call) {
	if len(c.Args) > maxValidArgs {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == maxValid {
		return
	}
	if v.calls == nil {
		v.calls = map[string]map[string]bool{}
	}
	if v.calls[c.Name] == nil {
		v.calls[c.Name] = map[string]bool{}
	}
	v.calls[c.Name][string(c.Args)] = true
	v.count++
}

// rank turns a path into arguments into numbers that sort by the order of
// declaration in the schema; a name the schema does not declare ranks after
// those it does, in the order written, and an absent one last.
func rank(schema, args JSON, path []string) []int {
	out := make([]int, 0, len(path))
	for _, name := range path {
		if args.Kind == '[' {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(args.Elems) {
				return append(out, len(args.Elems))
			}
			out = append(out, i)
			args = args.Elems[i]
			schema, _ = schema.Get("items")
			continue
		}
		properties, _ := schema.Get("properties")
		if i := indexOf(properties, name); i >= 0 {
			out = append(out, i)
		} else if i := indexOf(args, name); i >= 0 {
			out = append(out, len(properties.Members)+i)
		} else {
			out = append(out, len(properties.Members)+len(args.Members))
		}
		schema, _ = properties.Get(name)
		args, _ = args.Get(name)
	}
	return out
}

func indexOf(object JSON, name string) int {
	for i, m := range object.Members {
		if m.Name == name {
			return i
		}
	}
	return -1
}
