package graph

import "slices"

// catalogue has all node types. How each acts is the interpreter's, under the same name.
var catalogue = complete()

var (
	main    = []string{"main"}
	noPorts = []string{}
	v1      = []int{1}
	v12     = []int{1, 2}
)

var triggers = []*Type{
	{Name: "manual", Description: "starts the workflow by hand; the item is the input as given", Params: []Param{},
		Hints: []string{"it cannot run in production: use another trigger in a workflow to publish"}},
	{Name: "form", Description: "starts the workflow when a form is sent; the item has submittedAt, formMode and the fields", Params: []Param{
		{Name: "title", Type: TypeText, Required: true, Description: "heading of the form"},
		{Name: "fields", Type: TypeList, Required: true, Description: "what the form asks for", Most: 50, Fields: []Param{
			{Name: "name", Type: TypeField, Required: true},
			{Name: "type", Type: TypeText, Enum: []string{"text", "number", "email", "date"}, Default: "text"},
			{Name: "required", Type: TypeBoolean, Default: false},
		}},
	}, Hints: []string{"read a field as $json.name, not as $json.formFields.name or $json.body.name"}},
	{Name: "webhook", Description: "starts the workflow on an HTTP request; the item has headers, query and body", Params: []Param{
		{Name: "path", Type: TypeText, Required: true, Description: "path of the address, such as orders"},
		{Name: "method", Type: TypeText, Enum: []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, Default: "POST"},
	}, Hints: []string{"the payload is in $json.body: read $json.body.email, not $json.email"}},
	{Name: "chat", Description: "starts the workflow with a chat message; the item has sessionId, action and chatInput", Params: []Param{
		{Name: "public", Type: TypeBoolean, Default: false},
	}, Hints: []string{"the message is $json.chatInput"}},
	{Name: "schedule", Description: "starts the workflow at times; the item has timestamp, date, time, dayOfWeek, year, month, dayOfMonth, hour, minute, second and timezone", Params: []Param{
		{Name: "unit", Type: TypeText, Required: true, Enum: []string{"minutes", "hours", "days", "weeks"}},
		{Name: "every", Type: TypeNumber, Default: 1.0, Description: "number of units between two starts"},
		{Name: "hour", Type: TypeNumber, Default: 0.0, When: map[string][]string{"unit": {"days", "weeks"}}},
		{Name: "minute", Type: TypeNumber, Default: 0.0, When: map[string][]string{"unit": {"hours", "days", "weeks"}}},
		{Name: "weekday", Type: TypeText, When: map[string][]string{"unit": {"weeks"}}, Default: "Monday",
			Enum: []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}},
	}, Hints: []string{"it gives no data: get rows or pages with the next node"}},
}

// The operators of conditions. Those of unary have no right side.
var (
	binaryOperators = []string{"equals", "notEquals", "gt", "gte", "lt", "lte", "contains", "notContains", "startsWith", "endsWith"}
	unaryOperators  = []string{"exists", "notExists", "isEmpty", "isNotEmpty", "isTrue", "isFalse"}
)

var conditionFields = []Param{
	{Name: "left", Type: TypeAny, Required: true, Description: "usually an expression, such as {{ $json.total }}"},
	{Name: "operator", Type: TypeText, Required: true, Enum: append(slices.Clone(binaryOperators), unaryOperators...)},
	{Name: "right", Type: TypeAny, Required: true, When: map[string][]string{"operator": binaryOperators}},
}

var conditionParams = []Param{
	{Name: "conditions", Type: TypeList, Required: true, Most: 50, Fields: conditionFields},
	{Name: "combinator", Type: TypeText, Enum: []string{"and", "or"}, Default: "and"},
}

const conditionHint = "values are compared with their types: the text \"10\" is not equal to the number 10"

var flows = []*Type{
	{Name: "if", Versions: v12, Description: "sends each item to the output true or false", Outputs: []string{"true", "false"}, Params: conditionParams,
		Hints: []string{"output 0 is true, output 1 is false", conditionHint}},
	{Name: "switch", Versions: v12, Description: "sends each item to the output of the first rule that holds", Outputs: noPorts, Params: []Param{
		{Name: "rules", Type: TypeList, Required: true, Most: 16, Fields: conditionFields, Description: "one output each, in order"},
		{Name: "fallback", Type: TypeText, Enum: []string{"none", "extra"}, Default: "none", Description: "extra: one more output for items without a rule"},
		{Name: "allMatching", Type: TypeBoolean, Default: false, Description: "sends an item to all rules that hold"},
	}, Hints: []string{"items without a rule are dropped, unless fallback is extra", conditionHint}},
	{Name: "filter", Versions: v12, Description: "keeps the items for which the conditions hold", Params: conditionParams, Hints: []string{conditionHint}},
	{Name: "merge", Versions: v12, Description: "joins two branches; waits for both", Inputs: []string{"first", "second"}, AllInputs: true, Params: []Param{
		{Name: "mode", Type: TypeText, Enum: []string{"append", "position", "key"}, Default: "append",
			Description: "append: all items of the first input, then those of the second; position: the n-th of both in one item; key: items with the same value in one item"},
		{Name: "key", Type: TypeField, Required: true, When: map[string][]string{"mode": {"key"}}},
		{Name: "join", Type: TypeText, Enum: []string{"inner", "left", "outer"}, Default: "inner", When: map[string][]string{"mode": {"key"}},
			Description: "inner: pairs only; left: also items of the first input without a partner; outer: those of both"},
	}, Hints: []string{"connect the branches to the inputs 0 and 1", "where both items have a field, that of the second wins"}},
	{Name: "wait", Description: "pauses the execution; its status is waiting until then", Params: []Param{
		{Name: "mode", Type: TypeText, Enum: []string{"interval", "until"}, Default: "interval"},
		{Name: "amount", Type: TypeNumber, Required: true, When: map[string][]string{"mode": {"interval"}}},
		{Name: "unit", Type: TypeText, Enum: []string{"seconds", "minutes", "hours", "days"}, Default: "seconds", When: map[string][]string{"mode": {"interval"}}},
		{Name: "until", Type: TypeText, Required: true, When: map[string][]string{"mode": {"until"}}, Description: "a time such as 2026-03-02T09:00:00Z"},
	}},
	{Name: "stopAndError", Description: "ends the execution with an error", Outputs: noPorts, Params: []Param{
		{Name: "message", Type: TypeText, Required: true},
	}},
	{Name: "executeWorkflow", Description: "runs another workflow with the items and puts out what it puts out", Params: []Param{
		{Name: "workflowId", Type: TypeText, Required: true},
		{Name: "mode", Type: TypeText, Enum: []string{"once", "each"}, Default: "once", Description: "once: with all items; each: once for each item"},
	}, Hints: []string{"the other workflow should start with a manual trigger, which gets the items as they are"}},
	{Name: "noOp", Description: "passes the items on", Params: []Param{}},
}

var transforms = []*Type{
	{Name: "set", Versions: []int{1, 2, 3}, Description: "makes an item of fields for each item", Params: []Param{
		{Name: "fields", Type: TypeList, Required: true, Fields: []Param{
			{Name: "name", Type: TypeField, Required: true, Description: "customer.name sets name in customer"},
			{Name: "value", Type: TypeAny, Required: true},
		}},
		{Name: "includeOtherFields", Type: TypeBoolean, Default: false, Description: "also keeps the other fields of the item"},
	}, Hints: []string{"without includeOtherFields the item has the given fields only", "a value that is one expression keeps its type"}},
	{Name: "sort", Description: "sorts the items; equal ones keep their order", Params: []Param{
		{Name: "fields", Type: TypeList, Required: true, Most: 10, Fields: []Param{
			{Name: "field", Type: TypeField, Required: true},
			{Name: "order", Type: TypeText, Enum: []string{"asc", "desc"}, Default: "asc"},
		}},
	}},
	{Name: "limit", Description: "keeps the first or the last items", Params: []Param{
		{Name: "maxItems", Type: TypeNumber, Default: 1.0},
		{Name: "keep", Type: TypeText, Enum: []string{"first", "last"}, Default: "first"},
	}},
	{Name: "aggregate", Description: "makes one item of all items, or of each group: lists, counts, sums", Params: []Param{
		{Name: "aggregations", Type: TypeList, Required: true, Most: 20, Fields: []Param{
			{Name: "operation", Type: TypeText, Required: true, Enum: []string{"count", "sum", "average", "min", "max", "list", "items"},
				Description: "list: the values of a field; items: whole items"},
			{Name: "field", Type: TypeField, Required: true, When: map[string][]string{"operation": {"sum", "average", "min", "max", "list"}}},
			{Name: "output", Type: TypeField, Required: true, Description: "field of the result"},
		}},
		{Name: "groupBy", Type: TypeList, Most: 10, Of: TypeField, Description: "names of fields: one item for each combination of their values"},
	}, Hints: []string{"missing values are left out of sum, average, min, max and list", "it puts out nothing where no item comes in"}},
	{Name: "splitOut", Description: "makes an item of each entry of a list", Params: []Param{
		{Name: "field", Type: TypeField, Required: true, Description: "the list, such as body.lines"},
		{Name: "destination", Type: TypeField, Description: "field that gets the entry; without it, an entry that is an object is the item, and another entry gets the last name of field"},
		{Name: "includeOtherFields", Type: TypeBoolean, Default: false},
	}},
	{Name: "dateTime", Versions: v12, Description: "computes with times", Params: []Param{
		{Name: "operation", Type: TypeText, Required: true, Enum: []string{"now", "format", "add", "subtract", "difference", "part"}},
		{Name: "date", Type: TypeText, Required: true, When: map[string][]string{"operation": {"format", "add", "subtract", "difference", "part"}},
			Description: "such as 2026-03-02 or 2026-03-02T09:00:00Z"},
		{Name: "endDate", Type: TypeText, Required: true, When: map[string][]string{"operation": {"difference"}}},
		{Name: "amount", Type: TypeNumber, Required: true, When: map[string][]string{"operation": {"add", "subtract"}}},
		{Name: "unit", Type: TypeText, Enum: []string{"seconds", "minutes", "hours", "days", "weeks", "months", "years"}, Default: "days",
			When: map[string][]string{"operation": {"add", "subtract", "difference"}}, Description: "difference: not months or years"},
		{Name: "format", Type: TypeText, Required: true, When: map[string][]string{"operation": {"format"}}, Description: "of yyyy, MM, dd, HH, mm and ss, such as dd.MM.yyyy"},
		{Name: "part", Type: TypeText, Required: true, Enum: []string{"year", "month", "day", "hour", "minute", "second", "weekday"}, When: map[string][]string{"operation": {"part"}}},
		{Name: "output", Type: TypeField, Default: "date", Description: "field of the result; the other fields are kept"},
	}},
	{Name: "removeDuplicates", Versions: v12, Description: "keeps the first of equal items", Params: []Param{
		{Name: "fields", Type: TypeList, Most: 20, Of: TypeField, Description: "names of the fields to compare; all if there are none"},
	}},
}

var filterFields = []Param{
	{Name: "column", Type: TypeText, Required: true},
	{Name: "condition", Type: TypeText, Enum: []string{"eq", "neq", "like", "gt", "gte", "lt", "lte"}, Default: "eq"},
	{Name: "value", Type: TypeAny, Required: true},
}

var actions = []*Type{
	{Name: "httpRequest", Category: "web", Versions: v12, Description: "makes an HTTP request for each item; puts out the body, an item for each entry of a list", Params: []Param{
		{Name: "url", Type: TypeText, Required: true},
		{Name: "method", Type: TypeText, Enum: []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, Default: "GET"},
		{Name: "query", Type: TypeObject, Description: "parameters of the query"},
		{Name: "headers", Type: TypeObject},
		{Name: "body", Type: TypeAny, When: map[string][]string{"method": {"POST", "PUT", "PATCH", "DELETE"}}},
		{Name: "fullResponse", Type: TypeBoolean, Default: false, Description: "puts out status, headers and body, and takes any status for a success"},
		{Name: "authentication", Type: TypeText, Enum: []string{"none", "header", "basic"}, Default: "none"},
	}, Credentials: []Credential{
		{"httpHeaderAuth", map[string][]string{"authentication": {"header"}}},
		{"httpBasicAuth", map[string][]string{"authentication": {"basic"}}},
	}, Hints: []string{"a status of 400 or more is an error of the node"}},
	{Name: "dataTable", Category: "data", Description: "reads and writes rows of a data table, once for each item", Params: []Param{
		{Name: "operation", Type: TypeText, Required: true, Enum: []string{"insert", "get", "update", "upsert", "delete"}},
		{Name: "table", Type: TypeText, Required: true, Description: "id or name of the table"},
		{Name: "values", Type: TypeObject, Required: true, When: map[string][]string{"operation": {"insert", "update", "upsert"}}, Description: "value by column"},
		{Name: "filter", Type: TypeList, Required: true, Most: 20, Fields: filterFields, When: map[string][]string{"operation": {"update", "upsert", "delete"}}},
		{Name: "filter", Type: TypeList, Most: 20, Fields: filterFields, When: map[string][]string{"operation": {"get"}}},
		{Name: "match", Type: TypeText, Enum: []string{"all", "any"}, Default: "all", When: map[string][]string{"operation": {"get", "update", "upsert", "delete"}}},
		{Name: "limit", Type: TypeNumber, Default: 50.0, When: map[string][]string{"operation": {"get"}}},
	}, Hints: []string{"update, upsert and delete need a filter", "get puts out an item for each row, and none where no row matches"}},
	{Name: "slack", Category: "communication", Versions: v12, Description: "sends a Slack message for each item", Params: []Param{
		{Name: "channel", Type: TypeText, Required: true},
		{Name: "text", Type: TypeText, Required: true},
	}, Credentials: []Credential{{Type: "slackApi"}}, Hints: []string{"the item behind it is the reply of Slack: read earlier fields with $('Node').item.json"}},
	{Name: "email", Category: "communication", Description: "sends a mail for each item", Params: []Param{
		{Name: "to", Type: TypeText, Required: true},
		{Name: "subject", Type: TypeText, Required: true},
		{Name: "text", Type: TypeText, Required: true},
	}, Credentials: []Credential{{Type: "smtp"}}, Hints: []string{"the item behind it is the reply of the server: read earlier fields with $('Node').item.json"}},
	{Name: "sheet", Category: "data", Versions: v12, Description: "appends a row to a sheet for each item", Params: []Param{
		{Name: "document", Type: TypeText, Required: true},
		{Name: "sheet", Type: TypeText, Default: "Sheet1"},
		{Name: "values", Type: TypeObject, Required: true, Description: "value by column"},
	}, Credentials: []Credential{{Type: "googleSheetsOAuth2Api"}}},
}

// complete fills in what most types of a kind have in common.
func complete() []*Type {
	for kind, types := range map[string][]*Type{KindTrigger: triggers, KindFlow: flows, KindTransform: transforms, KindAction: actions} {
		for _, t := range types {
			t.Kind = kind
			if t.Category == "" {
				t.Category = kind
			}
			if t.Versions == nil {
				t.Versions = v1
			}
			if t.Inputs == nil {
				t.Inputs = main
				if kind == KindTrigger {
					t.Inputs = noPorts
				}
			}
			if t.Outputs == nil {
				t.Outputs = main
			}
		}
	}
	return slices.Concat(triggers, flows, transforms, actions)
}
