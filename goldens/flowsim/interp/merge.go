package interp

import (
	"encoding/json"
	"maps"
)

func runMerge(c *call) error {
	first, second := c.state.in[:c.state.second], c.state.in[c.state.second:]
	switch c.choice("mode") {
	case "position":
		for i := range min(len(first), len(second)) {
			if err := c.join(i, i); err != nil {
				return err
			}
		}
		return nil
	case "key":
		return c.joinByKey(first, second)
	}
	return passOn(c)
}

// join puts out an item with the fields of one of each input; of -1 there is none.
func (c *call) join(first, second int) error {
	at := first
	item := Item{}
	if first >= 0 {
		maps.Copy(item, c.state.in[first])
	}
	also := -1
	if second >= 0 {
		second += c.state.second
		maps.Copy(item, c.state.in[second])
		if at, also = first, second; first < 0 {
			at, also = second, -1
		}
	}
	if err := c.put(item, at); err != nil {
		return err
	}
	if c.run.Also == nil {
		c.run.Also = make([][]int, 1)
	}
	c.run.Also[0] = append(c.run.Also[0], also)
	return nil
}

// joinByKey pairs each item of the first input with all of the second that have the same
// value. Items without one have no partner.
func (c *call) joinByKey(first, second []Item) error {
	path, err := c.field("key")
	if err != nil {
		return err
	}
	if path == "" {
		return wrong("key is missing")
	}
	partners := map[string][]int{}
	for i, item := range second {
		if v := lookup(item, path); v != nil {
			partners[keyOf(v)] = append(partners[keyOf(v)], i)
		}
	}
	kind := c.choice("join")
	used := make([]bool, len(second))
	for i, item := range first {
		var found []int
		if v := lookup(item, path); v != nil {
			found = partners[keyOf(v)]
		}
		for _, j := range found {
			used[j] = true
			if err := c.join(i, j); err != nil {
				return err
			}
		}
		if len(found) == 0 && kind != "inner" {
			if err := c.join(i, -1); err != nil {
				return err
			}
		}
	}
	for j := range second {
		if !used[j] && kind == "outer" {
			if err := c.join(-1, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyOf is a text that only equal values have.
func keyOf(v any) string {
	if text, ok := v.(string); ok {
		return `"` + text // no JSON is an open text
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
