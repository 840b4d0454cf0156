//go:build unix

package browser

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// Open goes to a file and waits until it is loaded.
func (p *Tab) Open(path, fragment string) {
	p.T.Helper()
	p.Visit((&url.URL{Scheme: "file", Path: path}).String() + fragment)
}

// Visit goes to an address and waits until it is loaded.
func (p *Tab) Visit(address string) {
	p.T.Helper()
	for len(p.loaded) > 0 {
		<-p.loaded
	}
	var went struct{ ErrorText, LoaderID string }
	require.NoError(p.T, json.Unmarshal(p.Do("Page.navigate", Obj{"url": address}), &went))
	require.Empty(p.T, went.ErrorText, address)
	if went.LoaderID == "" {
		return // the same page, another fragment
	}
	select {
	case <-p.loaded:
	case <-time.After(Patience):
		require.FailNow(p.T, "not loaded", "%s in %s", address, Patience)
	}
}

// Try evaluates an expression, awaits it and decodes its JSON value.
func (p *Tab) Try(expression string, into any) error {
	result, err := p.Ask(p.session, "Runtime.evaluate", Obj{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if err != nil {
		return err
	}
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("%.200s: %s", expression, r.ExceptionDetails.Exception.Description)
	}
	if r.Result.Value == nil {
		r.Result.Value = json.RawMessage("null")
	}
	return json.Unmarshal(r.Result.Value, into)
}

// Eval is the value of an expression in the page.
func Eval[T any](p *Tab, format string, args ...any) (value T) {
	p.T.Helper()
	require.NoError(p.T, p.Try(filled(format, args), &value))
	return value
}

// filled puts arguments into an expression as literals.
func filled(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	literals := make([]any, len(args))
	for i, a := range args {
		literals[i] = quoted(a)
	}
	return fmt.Sprintf(format, literals...)
}

// quoted is a literal of the page's language.
func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Until waits for a condition; the page may be left meanwhile.
func (p *Tab) Until(format string, args ...any) {
	p.T.Helper()
	expression := filled(format, args)
	var err error
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) { //nolint:forbidigo // a browser works in real time
		var ok bool
		if err = p.Try(expression, &ok); err == nil && ok {
			return
		}
	}
	require.FailNow(p.T, "it did not come to be", "%s (%v)", expression, err)
}

// Target is where to click on an element; over says why one cannot.
type Target struct {
	X, Y float64
	Over string
}

// Click clicks into the middle of an element as a person does, once it is drawn and
// has come to rest: it must be in view, and nothing may lie over it.
func (p *Tab) Click(selector string) {
	p.T.Helper()
	at := p.Find(selector)
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); { //nolint:forbidigo // a browser works in real time
		time.Sleep(40 * time.Millisecond) // two frames and more
		before := at
		if at = p.Find(selector); at == before && at.Over == "" {
			break
		}
	}
	require.Empty(p.T, at.Over, "click %s", selector)
	var wait []func() (json.RawMessage, error)
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		wait = append(wait, p.begin(p.session, "Input.dispatchMouseEvent", Obj{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}))
	}
	p.done(wait)
}

// Find scrolls an element into view.
func (p *Tab) Find(selector string) Target {
	p.T.Helper()
	return Eval[Target](p, `(() => {
		const e = document.querySelector(%s);
		if (!e) return {over: "no such element"};
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const box = e.getClientRects()[0];
		if (!box) return {over: "not drawn"};
		const x = box.x + box.width / 2, y = box.y + box.height / 2, hit = document.elementFromPoint(x, y);
		return {x, y, over: e.contains(hit) ? "" : hit ? hit.outerHTML.slice(0, 200) : "outside the window"};
	})()`, selector)
}

// done waits for what was started.
func (p *Tab) done(wait []func() (json.RawMessage, error)) {
	p.T.Helper()
	for _, w := range wait {
		_, err := w()
		require.NoError(p.T, err)
	}
}

// Press presses keys, one after the other: characters, or names such as Tab,
// Enter, ArrowDown. A name may begin with Shift+ or Control+.
func (p *Tab) Press(keys ...string) {
	p.T.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Backspace": 8, "a": 65}
	var wait []func() (json.RawMessage, error)
	for _, key := range keys {
		modifiers := 0
		if rest, ok := strings.CutPrefix(key, "Shift+"); ok {
			key, modifiers = rest, 8
		}
		if rest, ok := strings.CutPrefix(key, "Control+"); ok {
			key, modifiers = rest, 2
		}
		event := func(kind, text string) {
			wait = append(wait, p.begin(p.session, "Input.dispatchKeyEvent",
				Obj{"type": kind, "text": text, "key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}))
		}
		switch {
		case key == "Enter":
			event("keyDown", "\r")
		case len([]rune(key)) == 1 && modifiers != 2:
			event("keyDown", key)
		default:
			event("rawKeyDown", "")
		}
		event("keyUp", "")
	}
	p.done(wait)
}

// Write types text, key by key.
func (p *Tab) Write(text string) {
	p.T.Helper()
	p.Press(strings.Split(text, "")...)
}

// Pick chooses an option of a select element, or of the radio buttons in a fieldset, as
// its keyboard does.
func (p *Tab) Pick(selector, value string) {
	p.T.Helper()
	steps := Eval[int](p, `(() => { const s = document.querySelector(%s), list = [...s.options ?? s.querySelectorAll("input")], on = s.selectedIndex ?? list.findIndex(r => r.checked);
		(s.options ? s : list[on]).focus();
		return list.findIndex(o => o.value === %s) - on })()`, selector, value)
	p.Press(slices.Repeat([]string{"ArrowDown"}, max(0, steps))...)
	p.Press(slices.Repeat([]string{"ArrowUp"}, max(0, -steps))...)
	require.Equal(p.T, value, Eval[string](p, `(s => s.value ?? s.querySelector(":checked").value)(document.querySelector(%s))`, selector), "no such option in %s", selector)
}

// Media emulates a medium and a colour scheme; empty is the default.
func (p *Tab) Media(medium, scheme string) {
	p.T.Helper()
	p.Do("Emulation.setEmulatedMedia", Obj{"media": medium, "features": []Obj{{"name": "prefers-color-scheme", "value": scheme}}})
}

// Phone makes the window as narrow as a phone's.
func (p *Tab) Phone() {
	p.T.Helper()
	p.Do("Emulation.setDeviceMetricsOverride", Obj{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
}
