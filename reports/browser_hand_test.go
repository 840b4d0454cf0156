//go:build unix

package reports

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/words"
)

// open goes to a file and waits until it is loaded.
func (p *tab) open(path, fragment string) {
	p.t.Helper()
	p.visit((&url.URL{Scheme: "file", Path: path}).String() + fragment)
}

func (p *tab) visit(address string) {
	p.t.Helper()
	for len(p.loaded) > 0 {
		<-p.loaded
	}
	var went struct{ ErrorText, LoaderID string }
	require.NoError(p.t, json.Unmarshal(p.do("Page.navigate", obj{"url": address}), &went))
	require.Empty(p.t, went.ErrorText, address)
	if went.LoaderID == "" {
		return // the same page, another fragment
	}
	select {
	case <-p.loaded:
	case <-time.After(patience):
		require.FailNow(p.t, "not loaded", "%s in %s", address, patience)
	}
}

// try evaluates an expression, awaits it and decodes its JSON value.
func (p *tab) try(expression string, into any) error {
	result, err := p.ask(p.session, "Runtime.evaluate", obj{"expression": expression, "awaitPromise": true, "returnByValue": true})
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
		return fmt.Errorf("%s: %s", words.Brief(expression, 200), r.ExceptionDetails.Exception.Description)
	}
	if r.Result.Value == nil {
		r.Result.Value = json.RawMessage("null")
	}
	return json.Unmarshal(r.Result.Value, into)
}

// eval is the value of an expression in the page.
func eval[T any](p *tab, format string, args ...any) (value T) {
	p.t.Helper()
	require.NoError(p.t, p.try(filled(format, args), &value))
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

// until waits for a condition; the page may be left meanwhile.
func (p *tab) until(format string, args ...any) {
	p.t.Helper()
	expression := filled(format, args)
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var ok bool
		if err = p.try(expression, &ok); err == nil && ok {
			return
		}
	}
	require.FailNow(p.t, "it did not come to be", "%s (%v)", expression, err)
}

// target is where to click on an element; over says why one cannot.
type target struct {
	X, Y float64
	Over string
}

// click clicks into the middle of an element as a person does, once it is drawn and
// has come to rest: it must be in view, and nothing may lie over it.
func (p *tab) click(selector string) {
	p.t.Helper()
	at := p.find(selector)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		time.Sleep(40 * time.Millisecond) // two frames and more
		before := at
		if at = p.find(selector); at == before && at.Over == "" {
			break
		}
	}
	require.Empty(p.t, at.Over, "click %s", selector)
	var wait []func() (json.RawMessage, error)
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		wait = append(wait, p.begin(p.session, "Input.dispatchMouseEvent", obj{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}))
	}
	p.done(wait)
}

// find scrolls an element into view.
func (p *tab) find(selector string) target {
	p.t.Helper()
	return eval[target](p, `(() => {
		const e = document.querySelector(%s);
		if (!e) return {over: "no such element"};
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const box = e.getClientRects()[0];
		if (!box) return {over: "not drawn"};
		const x = box.x + box.width / 2, y = box.y + box.height / 2, hit = document.elementFromPoint(x, y);
		return {x, y, over: e.contains(hit) ? "" : hit ? hit.outerHTML.slice(0, 200) : "outside the window"};
	})()`, selector)
}

// done waits for what was begun.
func (p *tab) done(wait []func() (json.RawMessage, error)) {
	p.t.Helper()
	for _, w := range wait {
		_, err := w()
		require.NoError(p.t, err)
	}
}

// press presses keys, one after the other: characters, or names such as Tab,
// Enter, ArrowDown. A name may begin with Shift+ or Control+.
func (p *tab) press(keys ...string) {
	p.t.Helper()
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
				obj{"type": kind, "text": text, "key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}))
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

// write types text, key by key.
func (p *tab) write(text string) {
	p.t.Helper()
	p.press(strings.Split(text, "")...)
}

// pick chooses an option of a select element, or of the radio buttons in a fieldset, as
// its keyboard does.
func (p *tab) pick(selector, value string) {
	p.t.Helper()
	steps := eval[int](p, `(() => { const s = document.querySelector(%s), list = [...s.options ?? s.querySelectorAll("input")], on = s.selectedIndex ?? list.findIndex(r => r.checked);
		(s.options ? s : list[on]).focus();
		return list.findIndex(o => o.value === %s) - on })()`, selector, value)
	p.press(slices.Repeat([]string{"ArrowDown"}, max(0, steps))...)
	p.press(slices.Repeat([]string{"ArrowUp"}, max(0, -steps))...)
	require.Equal(p.t, value, eval[string](p, `(s => s.value ?? s.querySelector(":checked").value)(document.querySelector(%s))`, selector), "no such option in %s", selector)
}

// media emulates a medium and a colour scheme; empty is the default.
func (p *tab) media(medium, scheme string) {
	p.t.Helper()
	p.do("Emulation.setEmulatedMedia", obj{"media": medium, "features": []obj{{"name": "prefers-color-scheme", "value": scheme}}})
}

// phone makes the window as narrow as a phone's.
func (p *tab) phone() {
	p.t.Helper()
	p.do("Emulation.setDeviceMetricsOverride", obj{"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true})
}
