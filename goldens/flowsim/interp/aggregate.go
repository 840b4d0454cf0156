package interp

import (
	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
)

// aggregation is one field of the result of an aggregate node.
type aggregation struct{ operation, field, output string }

func runAggregate(c *call) error {
	entries, err := c.entries("aggregations")
	if err != nil {
		return err
	}
	list := make([]aggregation, len(entries))
	for i, entry := range entries {
		a := &list[i]
		a.operation, _ = entry["operation"].(string)
		a.field, _ = entry["field"].(string)
		a.output, _ = entry["output"].(string)
		needsField := a.operation != "count" && a.operation != "items"
		if err := checkField("aggregations", a.field, !needsField); err != nil {
			return err
		}
		if err := checkField("aggregations", a.output, false); err != nil {
			return err
		}
	}
	by, err := c.fields("groupBy")
	if err != nil {
		return err
	}
	var groups [][]int
	at := map[string]int{}
	for i, item := range c.state.in {
		key := groupOf(item, by)
		g, known := at[key]
		if !known {
			g = len(groups)
			at[key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	for _, members := range groups {
		if err := c.aggregate(list, by, members); err != nil {
			return err
		}
	}
	return nil
}

// aggregate puts out the item of a group.
func (c *call) aggregate(list []aggregation, by []string, members []int) error {
	made := Item{}
	for _, path := range by {
		assign(made, path, lookup(c.state.in[members[0]], path))
	}
	for _, a := range list {
		v, err := c.fold(a, members)
		if err != nil {
			return err
		}
		assign(made, a.output, v)
	}
	from := -1
	if len(members) == 1 {
		from = members[0]
	}
	return c.put(made, from)
}

// fold computes one value of a group.
func (c *call) fold(a aggregation, members []int) (any, error) {
	values := []any{}
	for _, i := range members {
		if a.operation == "items" {
			values = append(values, c.state.in[i])
		} else if v := lookup(c.state.in[i], a.field); v != nil && a.operation != "count" {
			values = append(values, v)
		}
	}
	switch a.operation {
	case "count":
		return float64(len(members)), nil
	case "items", "list":
		return values, nil
	case "sum", "average":
		sum := 0.0
		for _, v := range values {
			n, ok := v.(float64)
			if !ok {
				return nil, wrong("%s: the field %s is not always a number", a.operation, a.field)
			}
			sum += n
		}
		if a.operation == "sum" {
			return sum, nil
		}
		if len(values) == 0 {
			return nil, nil
		}
		return sum / float64(len(values)), nil
	case "min", "max":
		var best any
		for _, v := range values {
			order, ok := formula.Compare(v, best)
			if best != nil && !ok {
				return nil, wrong("%s: the field %s has values that cannot be compared", a.operation, a.field)
			}
			if best == nil || order < 0 == (a.operation == "min") && order != 0 {
				best = v
			}
		}
		return best, nil
	}
	return nil, wrong("there is no operation %q", a.operation)
}
