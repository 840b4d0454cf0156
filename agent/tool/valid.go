package tool

import "sync"

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
