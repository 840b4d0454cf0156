package interp

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
)

func runSet(c *call) error {
	entries, err := c.entries("fields")
	if err != nil {
		return err
	}
	names := make([]string, len(entries))
	values := make([]*formula.Template, len(entries))
	for i, entry := range entries {
		names[i], _ = entry["name"].(string)
		if err := checkField("fields", names[i], false); err != nil {
			return err
		}
		if values[i], err = c.compile(entry["value"]); err != nil {
			return err
		}
	}
	return c.each(func(item Item) error {
		others, err := c.flag("includeOtherFields")
		if err != nil {
			return err
		}
		made := make(Item, len(names))
		if others {
			maps.Copy(made, item)
		}
		for i, name := range names {
			v, err := c.eval(values[i])
			if err != nil {
				return err
			}
			assign(made, name, v)
		}
		return c.put(made, c.at)
	})
}

// rank orders values of different types.
func rank(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 2
		}
		return 1
	case float64:
		return 3
	case string:
		return 4
	case []any:
		return 5
	}
	return 6
}

// compareAny orders any two values: null, false, true, numbers, texts, lists, objects.
func compareAny(a, b any) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	c, _ := formula.Compare(a, b)
	return c
}

func runSort(c *call) error {
	entries, err := c.entries("fields")
	if err != nil {
		return err
	}
	values := make([][]any, len(entries)) // of each key, by item
	for k, entry := range entries {
		path, _ := entry["field"].(string)
		if err := checkField("fields", path, false); err != nil {
			return err
		}
		values[k] = make([]any, len(c.state.in))
		for i, item := range c.state.in {
			values[k][i] = lookup(item, path)
		}
	}
	order := make([]int, len(c.state.in))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		for k, entry := range entries {
			result := compareAny(values[k][a], values[k][b])
			if result != 0 && entry["order"] == "desc" {
				result = -result
			}
			if result != 0 {
				return result
			}
		}
		return 0
	})
	for _, i := range order {
		if err := c.pass(0, c.state.in[i], i); err != nil {
			return err
		}
	}
	return nil
}

func runLimit(c *call) error {
	most, err := c.number("maxItems", 0, maxItems)
	if err != nil {
		return err
	}
	begin, end := 0, min(int(most), len(c.state.in))
	if c.choice("keep") == "last" {
		begin, end = len(c.state.in)-end, len(c.state.in)
	}
	for i := begin; i < end; i++ {
		if err := c.pass(0, c.state.in[i], i); err != nil {
			return err
		}
	}
	return nil
}

// runUnique keeps the first of the items that are equal in some fields or in all.
func runUnique(c *call) error {
	fields, err := c.fields("fields")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	return c.each(func(item Item) error {
		key := groupOf(item, fields)
		if len(fields) == 0 {
			key = keyOf(item)
		}
		if seen[key] {
			return nil
		}
		seen[key] = true
		return c.pass(0, item, c.at)
	})
}

// groupOf is a text that only items have whose fields are equal.
func groupOf(item Item, fields []string) string {
	values := make([]any, len(fields))
	for i, path := range fields {
		values[i] = lookup(item, path)
	}
	return keyOf(values)
}

func runSplit(c *call) error {
	path, err := c.field("field")
	if err != nil {
		return err
	}
	destination, err := c.field("destination")
	if err != nil {
		return err
	}
	others, err := c.flag("includeOtherFields")
	if err != nil {
		return err
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	return c.each(func(item Item) error {
		v := lookup(item, path)
		list, ok := v.([]any)
		if !ok && v != nil {
			return wrong("the field %s is not a list", path)
		}
		for _, entry := range list {
			made := Item{}
			if others {
				maps.Copy(made, item)
				delete(made, path)
			}
			if object, ok := entry.(map[string]any); ok && destination == "" {
				maps.Copy(made, object)
			} else {
				assign(made, cmp.Or(destination, last), entry)
			}
			if err := c.put(made, c.at); err != nil {
				return err
			}
		}
		return nil
	})
}
