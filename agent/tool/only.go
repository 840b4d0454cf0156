package tool

import "slices"

// Only returns the Set of those tools that are named, in the order of s; names it
// does not have are passed over.
func (s *Set) Only(names []string) *Set {
	out := &Set{tools: map[string]compiled{}}
	for _, spec := range s.Specs() {
		if slices.Contains(names, spec.Name) {
			out.specs = append(out.specs, spec)
			out.tools[spec.Name] = s.tools[spec.Name]
		}
	}
	return out
}
