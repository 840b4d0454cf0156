package interp

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
)

func failure(class, format string, args ...any) error {
	return &Failure{Class: class, Message: fmt.Sprintf(format, args...)}
}

func (r *simpleNode) param(name string, otherwise any) any {
	if v, ok := r.n.Parameters[name]; ok {
		return v
	}
	return otherwise
}

func (r *simpleNode) list(name string) (out []Item) {
	entries, _ := r.n.Parameters[name].([]any)
	for _, entry := range entries {
		out = append(out, entry.(map[string]any))
	}
	return out
}

func (r *simpleNode) act() error {
	switch r.n.Type {
	case "if", "filter", "switch":
		return r.route()
	case "merge":
		r.merge()
	case "sort", "limit", "removeDuplicates", "aggregate", "splitOut":
		return r.transform()
	case "set":
		return r.each(func(item *simpleItem) error {
			made := Item{}
			if r.param("includeOtherFields", false) == true {
				made = item.json
			}
			for _, f := range r.list("fields") {
				v, err := r.value(f["value"], item)
				if err != nil {
					return err
				}
				made = simpleSet(made, f["name"].(string), v)
			}
			r.put(0, made, item)
			return nil
		})
	case "dateTime":
		return r.each(r.date)
	case "stopAndError":
		v, err := r.value(r.param("message", ""), r.in[0])
		if err == nil {
			err = failure("stopped", "%s", simpleString(v))
		}
		return err
	case "wait":
		v, err := r.value(r.param("amount", nil), r.in[0])
		n, ok := v.(float64)
		if r.took = 0; err == nil && (!ok || n < 0 || n > 1e6) {
			err = failure("parameter", "amount must be a number from 0 to 1e+06")
		}
		if err != nil {
			return err
		}
		r.took = time.Duration(n * float64(time.Minute))
		fallthrough
	case "noOp":
		return r.each(func(item *simpleItem) error { r.put(0, item.json, item); return nil })
	default:
		return r.outside()
	}
	return nil
}

func (r *simpleNode) holds(c Item, item *simpleItem) (bool, error) {
	a, err := r.value(c["left"], item)
	if err != nil {
		return false, err
	}
	b, err := r.value(c["right"], item)
	if err != nil {
		return false, err
	}
	s, isS := a.(string)
	u, isU := b.(string)
	switch c["operator"] {
	case "equals":
		return reflect.DeepEqual(a, b), nil
	case "exists":
		return a != nil, nil
	case "isTrue":
		return a == true, nil
	case "isEmpty":
		return a == nil || a == "" || reflect.DeepEqual(a, []any{}) || reflect.DeepEqual(a, map[string]any{}), nil
	case "contains":
		if a == nil {
			return false, nil
		} else if isS {
			return strings.Contains(s, simpleString(b)), nil
		} else if list, ok := a.([]any); ok {
			return slices.ContainsFunc(list, func(x any) bool { return reflect.DeepEqual(x, b) }), nil
		}
		return false, fmt.Errorf("includes() needs a text or a list, not %s", simpleName(a))
	case "startsWith":
		if a == nil || b == nil {
			return false, nil
		} else if !isS || !isU {
			return false, failure("parameter", "startsWith compares texts")
		}
		return strings.HasPrefix(s, u), nil
	}
	x, isX := a.(float64)
	y, isY := b.(float64)
	switch {
	case a == nil || b == nil:
		return false, nil
	case isX && isY:
		return x > y, nil
	case isS && isU:
		return s > u, nil
	}
	return false, fmt.Errorf("gt cannot compare %v with %v", a, b)
}

func (r *simpleNode) route() error {
	outputs := map[string]int{"if": 2, "filter": 1, "switch": len(r.list("rules"))}[r.n.Type]
	if r.param("fallback", "") == "extra" {
		outputs++
	}
	r.out = make([][]*simpleItem, outputs)
	return r.each(func(item *simpleItem) error {
		found := false
		for port, rule := range r.list("rules") {
			ok, err := r.holds(rule, item)
			if err != nil {
				return err
			}
			if ok && (!found || r.param("allMatching", false) == true) {
				r.put(port, item.json, item)
				if found = true; r.param("allMatching", false) != true {
					return nil
				}
			}
		}
		if r.n.Type == "switch" {
			if !found && r.param("fallback", "") == "extra" {
				r.put(outputs-1, item.json, item)
			}
			return nil
		}
		or := r.param("combinator", "and") == "or"
		result := !or
		for _, c := range r.list("conditions") {
			ok, err := r.holds(c, item)
			if err != nil {
				return err
			}
			if ok == or {
				result = or
				break
			}
		}
		if result {
			r.put(0, item.json, item)
		} else if r.n.Type == "if" {
			r.put(1, item.json, item)
		}
		return nil
	})
}

func (r *simpleNode) merge() {
	join := func(a, b *simpleItem) {
		made, from := Item{}, []*simpleItem{}
		for _, x := range []*simpleItem{a, b} {
			if x != nil {
				maps.Copy(made, x.json)
				from = append(from, x)
			}
		}
		r.put(0, made, from...)
	}
	switch r.param("mode", "append") {
	case "append":
		for _, item := range r.in {
			r.put(0, item.json, item)
		}
	case "position":
		for i := 0; i < len(r.first) && i < len(r.second); i++ {
			join(r.first[i], r.second[i])
		}
	default:
		key, kind := r.n.Parameters["key"].(string), r.param("join", "inner")
		met := map[*simpleItem]bool{}
		for _, a := range r.first {
			for _, b := range r.second {
				if x := simpleGet(a.json, key); x != nil && reflect.DeepEqual(x, simpleGet(b.json, key)) {
					join(a, b)
					met[a], met[b] = true, true
				}
			}
			if !met[a] && kind != "inner" {
				join(a, nil)
			}
		}
		for _, b := range r.second {
			if !met[b] && kind == "outer" {
				join(nil, b)
			}
		}
	}
}

// simpleLess orders any values, by how a list of examples of the types is ordered.
func simpleLess(a, b any) bool {
	place := func(v any) int {
		return slices.Index([]string{"null", "a boolean", "a number", "a text", "a list", "an object"}, simpleName(v))
	}
	if place(a) != place(b) {
		return place(a) < place(b)
	}
	switch x := a.(type) {
	case bool:
		return !x && b.(bool)
	case float64:
		return x < b.(float64)
	case string:
		return x < b.(string)
	}
	return false
}

func (r *simpleNode) transform() error {
	switch r.n.Type {
	case "sort":
		items := slices.Clone(r.in)
		f := r.list("fields")[0]
		sort.SliceStable(items, func(i, j int) bool {
			a, b := simpleGet(items[i].json, f["field"].(string)), simpleGet(items[j].json, f["field"].(string))
			if f["order"] == "desc" {
				a, b = b, a
			}
			return simpleLess(a, b)
		})
		for _, item := range items {
			r.put(0, item.json, item)
		}
	case "limit":
		n := min(int(r.param("maxItems", 1.0).(float64)), len(r.in))
		items := r.in[:n]
		if r.param("keep", "first") == "last" {
			items = r.in[len(r.in)-n:]
		}
		for _, item := range items {
			r.put(0, item.json, item)
		}
	case "removeDuplicates":
		var before []any
		for _, item := range r.in {
			var key any = item.json
			if fields, ok := r.n.Parameters["fields"].([]any); ok {
				key = simpleGet(item.json, fields[0].(string))
			}
			if !slices.ContainsFunc(before, func(v any) bool { return reflect.DeepEqual(v, key) }) {
				r.put(0, item.json, item)
				before = append(before, key)
			}
		}
	case "aggregate":
		return r.aggregate()
	case "splitOut":
		path := r.n.Parameters["field"].(string)
		return r.each(func(item *simpleItem) error {
			v := simpleGet(item.json, path)
			list, ok := v.([]any)
			if v != nil && !ok {
				return failure("parameter", "the field %s is not a list", path)
			}
			for _, entry := range list {
				made := Item{}
				if r.param("includeOtherFields", false) == true {
					made = maps.Clone(item.json)
					delete(made, path)
				}
				if o, ok := entry.(map[string]any); ok {
					maps.Copy(made, o)
				} else {
					names := strings.Split(path, ".")
					made[names[len(names)-1]] = entry
				}
				r.put(0, made, item)
			}
			return nil
		})
	}
	return nil
}

func (r *simpleNode) aggregate() error {
	a := r.list("aggregations")[0]
	by := ""
	if groups, ok := r.n.Parameters["groupBy"].([]any); ok {
		by = groups[0].(string)
	}
	var keys []string
	groups := map[string][]*simpleItem{}
	for _, item := range r.in {
		key := ""
		if by != "" {
			key = simpleKey(simpleGet(item.json, by))
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], item)
	}
	for _, key := range keys {
		made := Item{}
		if by != "" {
			made = simpleSet(made, by, simpleGet(groups[key][0].json, by))
		}
		values := []any{}
		sum := 0.0
		for _, item := range groups[key] {
			if a["operation"] == "items" {
				values = append(values, item.json)
			} else if v := simpleGet(item.json, a["field"].(string)); v != nil {
				n, ok := v.(float64)
				if !ok && a["operation"] == "sum" {
					return failure("parameter", "sum: the field %s is not always a number", a["field"])
				}
				sum += n
				values = append(values, v)
			}
		}
		v := map[string]any{"count": float64(len(groups[key])), "sum": sum, "list": values, "items": values}[a["operation"].(string)]
		made = simpleSet(made, a["output"].(string), v)
		if len(groups[key]) == 1 {
			r.put(0, made, groups[key][0])
		} else {
			r.put(0, made)
		}
	}
	return nil
}

func (r *simpleNode) date(item *simpleItem) error {
	v, err := r.value(r.n.Parameters["date"], item)
	if err != nil {
		return err
	}
	if v != nil {
		day, err := time.Parse(time.DateOnly, simpleString(v))
		if err != nil {
			if day, err = time.Parse(time.RFC3339, simpleString(v)); err != nil {
				return failure("parameter", "date must be a time such as 2026-03-02T09:00:00Z")
			}
		}
		if v = day.Format("02.01.2006"); r.n.Parameters["operation"] == "add" {
			v = day.AddDate(0, 0, int(r.n.Parameters["amount"].(float64))).Format(time.RFC3339)
		}
	}
	r.put(0, simpleSet(item.json, "date", v), item)
	return nil
}

func (r *simpleNode) effect(kind string, detail Item) {
	r.effects = append(r.effects, Effect{Kind: kind, Node: r.n.Name, Detail: detail})
}

// outside is for nodes that act on something.
func (r *simpleNode) outside() error {
	for kind, id := range r.n.Credentials {
		if err := r.s.env.Credential(r.n, kind, id); err != nil {
			return err
		}
	}
	return r.each(func(item *simpleItem) error {
		v, err := r.value(r.n.Parameters, item)
		if err != nil {
			return err
		}
		p := v.(map[string]any)
		switch r.n.Type {
		case "slack":
			p["text"] = simpleString(p["text"])
			r.effect("message", Item{"service": "slack", "channel": p["channel"], "text": p["text"]})
			r.put(0, Item{"ok": true, "channel": p["channel"], "text": p["text"]}, item)
		case "email":
			p["text"] = simpleString(p["text"])
			r.effect("message", Item{"service": "email", "to": p["to"], "subject": p["subject"], "text": p["text"]})
			r.put(0, Item{"ok": true, "to": p["to"], "subject": p["subject"], "text": p["text"]}, item)
		case "sheet":
			r.effect("message", Item{"service": "sheet", "document": p["document"], "sheet": "Sheet1", "values": p["values"]})
			r.put(0, Item{"ok": true, "document": p["document"], "sheet": "Sheet1", "values": p["values"]}, item)
		case "httpRequest":
			return r.http(p["url"].(string), item)
		case "dataTable":
			return r.table(p, item)
		case "executeWorkflow":
			g, _ := r.s.env.Workflow(p["workflowId"].(string))
			inner := &simple{graph: g, env: r.s.env}
			inner.env.Start = r.s.now.Add(r.took - r.latency())
			out := inner.run(Trigger{}, []Item{item.json})
			r.took += inner.now.Sub(inner.env.Start)
			for _, run := range inner.runs {
				for _, e := range run.Effects {
					e.Workflow = p["workflowId"].(string)
					r.effects = append(r.effects, e)
				}
			}
			if f := inner.fails; f != nil {
				return failure(f.Class, "workflow %s: node %q: %s: %s", p["workflowId"], f.Node, f.Class, f.Message)
			}
			for _, made := range out {
				r.put(0, made.json, item)
			}
		}
		return nil
	})
}

func (r *simpleNode) latency() time.Duration {
	if r.s.env.Latency != nil {
		return r.s.env.Latency(r.n)
	}
	return 50 * time.Millisecond
}

func (r *simpleNode) http(url string, item *simpleItem) error {
	response, err := r.s.env.HTTP(Request{Method: "GET", URL: url})
	r.took += response.Delay
	detail := Item{"method": "GET", "url": url}
	if err != nil {
		r.effect("request", detail)
		return failure("network", "%v", err)
	}
	status := max(response.Status, int(math.Mod(200, 300)))
	detail["status"] = float64(status)
	r.effect("request", detail)
	if status >= 400 {
		return failure(fmt.Sprintf("http_%d", status), "GET %s answered with status %d", url, status)
	}
	list, ok := response.Body.([]any)
	if !ok {
		list = []any{response.Body}
	}
	for _, entry := range list {
		made, ok := entry.(map[string]any)
		if !ok {
			made = Item{"data": entry}
		}
		r.put(0, made, item)
	}
	return nil
}

func (r *simpleNode) table(p Item, item *simpleItem) (err error) {
	var f Filter
	if c, ok := p["filter"].([]any); ok {
		o := c[0].(map[string]any)
		f.Conditions = []Condition{{o["column"].(string), "eq", o["value"]}}
	}
	values, _ := p["values"].(map[string]any)
	var rows []Item
	did := p["operation"]
	switch did {
	case "get":
		rows, err = r.s.env.Tables.Select("orders", f, 50)
	case "delete":
		rows, err = r.s.env.Tables.Delete("orders", f)
	case "update", "upsert":
		rows, err = r.s.env.Tables.Update("orders", f, values, r.s.now)
		did = "update"
	}
	if err == nil && (p["operation"] == "insert" || p["operation"] == "upsert" && rows == nil) {
		var row Item
		row, err = r.s.env.Tables.Insert("orders", values, r.s.now)
		rows, did = []Item{row}, "insert"
	}
	if err != nil {
		return failure("table", "%v", err)
	}
	all := []any{}
	for _, row := range rows {
		all = append(all, row)
		r.put(0, row, item)
	}
	if did != "get" && len(all) > 0 {
		r.effect("row", Item{"operation": did, "table": "orders", "rows": all})
	}
	return nil
}
