package cmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// serveNotes is a small MCP server over standard input and output, which scripts start as
// mcp-notes: it keeps notes in the file notes.txt of its folder. An argument changes it, and
// it does not start where there is a file named down.
func serveNotes() {
	offered := `{"name":"list_notes","description":"Lists the notes.","inputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true}},` +
		`{"name":"add_note","description":"Adds a note.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`
	how := strings.Join(os.Args[1:], " ")
	if _, err := os.Stat("down"); err == nil {
		fmt.Fprintln(os.Stderr, "closed for today")
		os.Exit(3)
	}
	if how == "changed" {
		offered = strings.Replace(offered, "Adds a note.", "Adds a note, at the end.", 1) + `,{"name":"drop_notes","inputSchema":{"type":"object"}}`
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments struct{ Text string }
			}
		}
		if json.Unmarshal(in.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		result := "{}"
		switch r.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1.2.3"}}`
		case "tools/list":
			result = `{"tools":[` + offered + `]}`
		case "tools/call":
			result = callNotes(how, r.Params.Name, r.Params.Arguments.Text)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
	}
}

func callNotes(how, name, text string) string {
	notes, _ := os.ReadFile("notes.txt")
	switch {
	case how == "crashes":
		fmt.Fprintln(os.Stderr, "no database")
		os.Exit(9)
	case name == "add_note" && text == "":
		return `{"content":[{"type":"text","text":"a note needs a text"}],"isError":true}`
	case name == "add_note":
		notes = append(notes, text+"\n"...)
		_ = os.WriteFile("notes.txt", notes, 0o644)
		return `{"content":[{"type":"text","text":"added"},{"type":"image","mimeType":"image/png","data":"aGVsbG8="}],"structuredContent":{"notes":` + strconv.Itoa(strings.Count(string(notes), "\n")) + `}}`
	}
	list, _ := json.Marshal(map[string]any{"notes": strings.Fields(string(notes)), "key": os.Getenv("NOTES_KEY") != ""})
	content, _ := json.Marshal([]map[string]string{{"type": "text", "text": string(list)}})
	return `{"content":` + string(content) + `}`
}
