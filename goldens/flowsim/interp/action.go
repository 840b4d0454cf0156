package interp

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/goldens/flowsim/formula"
)

func runHTTP(c *call) error {
	full, err := c.flag("fullResponse")
	if err != nil {
		return err
	}
	return c.each(func(Item) error {
		request, err := c.request()
		if err != nil {
			return err
		}
		response, err := c.send(request)
		if err != nil {
			return classify(err, "network")
		}
		if full {
			return c.put(Item{"status": float64(response.Status), "headers": orEmpty(response.Headers), "body": response.Body}, c.at)
		}
		if response.Status >= 400 {
			return &Failure{Class: fmt.Sprintf("http_%d", response.Status), Message: fmt.Sprintf("%s %s answered with status %d", request.Method, request.URL, response.Status)}
		}
		entries, isList := response.Body.([]any)
		if !isList {
			entries = []any{response.Body}
		}
		for _, entry := range entries {
			item, ok := entry.(map[string]any)
			if !ok {
				item = Item{"data": entry}
			}
			if err := c.put(item, c.at); err != nil {
				return err
			}
		}
		return nil
	})
}

// request makes the request for the current item.
func (c *call) request() (Request, error) {
	r := Request{Method: c.choice("method")}
	var err error
	if r.URL, err = c.text("url"); err != nil {
		return r, err
	}
	if !strings.HasPrefix(r.URL, "https://") && !strings.HasPrefix(r.URL, "http://") {
		return r, wrong("url must begin with https:// or http://")
	}
	if r.Query, err = c.object("query"); err != nil {
		return r, err
	}
	if r.Headers, err = c.object("headers"); err != nil {
		return r, err
	}
	r.Body, err = c.value("body")
	return r, err
}

// send makes a request and records it, answered or not. Headers may hold keys, so they are
// not recorded.
func (c *call) send(r Request) (Response, error) {
	if err := c.spend(1000); err != nil {
		return Response{}, err
	}
	response := Response{}
	var err error = &Failure{Class: "network", Message: fmt.Sprintf("nothing answers %s %s", r.Method, r.URL)}
	if c.x.env.HTTP != nil {
		response, err = c.x.env.HTTP(r)
	}
	detail := map[string]any{"method": r.Method, "url": r.URL}
	if r.Query != nil {
		detail["query"] = r.Query
	}
	if r.Body != nil {
		detail["body"] = r.Body
	}
	c.run.Duration += max(0, response.Delay)
	if response.Status == 0 {
		response.Status = 200
	}
	if err == nil {
		detail["status"] = float64(response.Status)
	}
	c.effect(EffectRequest, detail)
	return response, err
}

func orEmpty(item Item) Item {
	if item == nil {
		return Item{}
	}
	return item
}

func runTable(c *call) error {
	operation := c.choice("operation")
	var conditions []Item
	if raw, given := c.state.node.Parameters["filter"]; given && !isEmpty(raw) {
		var err error
		if conditions, err = c.entries("filter"); err != nil {
			return err
		}
	}
	if len(conditions) == 0 && (operation == "update" || operation == "upsert" || operation == "delete") {
		return wrong("%s needs a filter", operation)
	}
	if c.x.env.Tables == nil {
		return &Failure{Class: "table", Message: "there are no data tables"}
	}
	values := make([]*formula.Template, len(conditions))
	for i, entry := range conditions {
		var err error
		if values[i], err = c.compile(entry["value"]); err != nil {
			return err
		}
	}
	return c.each(func(Item) error {
		table, err := c.text("table")
		if err == nil {
			err = c.spend(1000)
		}
		if err != nil {
			return err
		}
		f := Filter{Any: c.choice("match") == "any", Conditions: make([]Condition, len(conditions))}
		for i, entry := range conditions {
			v, err := c.eval(values[i])
			if err != nil {
				return err
			}
			column, _ := entry["column"].(string)
			kind, _ := entry["condition"].(string)
			f.Conditions[i] = Condition{column, kind, v}
		}
		done, rows, err := c.rows(operation, table, f)
		if err != nil {
			return classify(err, "table")
		}
		if done != "get" && len(rows) > 0 {
			all := make([]any, len(rows))
			for i, row := range rows {
				all[i] = row
			}
			c.effect(EffectRow, map[string]any{"operation": done, "table": table, "rows": all})
		}
		for _, row := range rows {
			if err := c.put(row, c.at); err != nil {
				return err
			}
		}
		return nil
	})
}

// rows acts on a data table. done is the operation that was carried out.
func (c *call) rows(operation, table string, f Filter) (done string, rows []Item, err error) {
	tables := c.x.env.Tables
	switch operation {
	case "get":
		limit, err := c.number("limit", 0, maxItems)
		if err == nil {
			rows, err = tables.Select(table, f, int(limit))
		}
		return operation, rows, err
	case "delete":
		rows, err = tables.Delete(table, f)
		return operation, rows, err
	}
	values, err := c.object("values")
	if err != nil {
		return operation, nil, err
	}
	switch operation {
	case "update", "upsert":
		rows, err = tables.Update(table, f, values, c.x.now)
		if operation == "update" || err != nil || len(rows) > 0 {
			return "update", rows, err
		}
	case "insert":
	default:
		return operation, nil, wrong("there is no operation %q", operation)
	}
	row, err := tables.Insert(table, values, c.x.now)
	return "insert", []Item{row}, err
}

// notify sends something for each item: its text parameters, and those that are objects.
func notify(c *call, service string, texts []string, object string) error {
	return c.each(func(Item) error {
		detail := map[string]any{"service": service}
		reply := Item{"ok": true}
		for _, name := range texts {
			text, err := c.text(name)
			if err != nil {
				return err
			}
			detail[name], reply[name] = text, text
		}
		if object != "" {
			v, err := c.object(object)
			if err != nil {
				return err
			}
			detail[object], reply[object] = orEmpty(v), orEmpty(v)
		}
		c.effect(EffectMessage, detail)
		return c.put(reply, c.at)
	})
}

func runSlack(c *call) error { return notify(c, "slack", []string{"channel", "text"}, "") }
func runEmail(c *call) error { return notify(c, "email", []string{"to", "subject", "text"}, "") }
func runSheet(c *call) error { return notify(c, "sheet", []string{"document", "sheet"}, "values") }
