package tool

import "strconv"

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
