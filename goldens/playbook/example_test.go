package playbook_test

import (
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// A model follows a solution with the content of its prompt at each turn.
func Example() {
	tools, err := tool.NewSet([]tool.Spec{{Name: "get_order", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}}}`)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	const text = `
playbook:
  O1:
    - call: get_order
      args: {id: 17}
      as: order
    - answer: "Order 17 is {{order.status}}."
`
	tasks := []playbook.Task{{ID: "O1", Request: "What became of order 17?", Tools: tools}}
	book, err := playbook.Read(fstest.MapFS{playbook.File: {Data: []byte(text)}}, "suites/shop", tasks)
	if err != nil {
		fmt.Println(err)
		return
	}
	play, _ := book.Find("What became of order 17?", []string{"get_order"})
	var seen playbook.Seen
	for {
		actions, err := play.Next(seen)
		if err != nil {
			fmt.Println(err)
			return
		}
		a := actions[0]
		fmt.Printf("%s %s%s%s\n", a.Kind, a.Tool, a.Args, a.Text)
		if a.Kind != playbook.Call {
			return
		}
		seen.Results = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Value: json.RawMessage(`{"status":"sent"}`)})
	}
	// Output:
	// call get_order{"id":17}
	// answer Order 17 is sent.
}
