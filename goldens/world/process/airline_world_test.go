package process_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// object is a JSON object that keeps the order of its keys, as Python's dict does.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) set(key string, value any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

func (o *object) delete(key string) {
	delete(o.values, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

func (o *object) text(key string) string    { s, _ := o.values[key].(string); return s }
func (o *object) int(key string) int        { n, _ := o.values[key].(int); return n }
func (o *object) object(key string) *object { v, _ := o.values[key].(*object); return v }
func (o *object) list(key string) []any     { v, _ := o.values[key].([]any); return v }

// with returns a copy with changed members.
func (o *object) with(pairs ...any) *object {
	c := &object{slices.Clone(o.keys), maps.Clone(o.values)}
	for i := 0; i < len(pairs); i += 2 {
		c.set(pairs[i].(string), pairs[i+1])
	}
	return c
}

func newObject(pairs ...any) *object { return (&object{nil, map[string]any{}}).with(pairs...) }

// decode reads a value: objects in order, whole numbers as int.
func decode(dec *json.Decoder) any {
	t, _ := dec.Token()
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			o := newObject()
			for dec.More() {
				key, _ := dec.Token()
				o.set(key.(string), decode(dec))
			}
			_, _ = dec.Token()
			return o
		}
		list := []any{}
		for dec.More() {
			list = append(list, decode(dec))
		}
		_, _ = dec.Token()
		return list
	case float64:
		return int(t)
	default:
		return t
	}
}

func decoded(text []byte) *object {
	o, _ := decode(json.NewDecoder(bytes.NewReader(text))).(*object)
	return o
}

func copied(v any) any {
	switch v := v.(type) {
	case *object:
		c := newObject()
		for _, k := range v.keys {
			c.set(k, copied(v.values[k]))
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = copied(v[i])
		}
		return c
	}
	return v
}

// dumps writes a value as Python's json.dumps does.
func dumps(v any) string {
	switch v := v.(type) {
	case *object:
		parts := []string{}
		for _, k := range v.keys {
			parts = append(parts, dumps(k)+": "+dumps(v.values[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := []string{}
		for _, e := range v {
			parts = append(parts, dumps(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return strconv.QuoteToASCII(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// canon writes a value for the hash: see ../shared/published/tau-airline/README.md, 4.
func canon(v any) string {
	var parts []string
	switch v := v.(type) {
	case *object:
		for _, k := range slices.Sorted(maps.Keys(v.values)) {
			parts = append(parts, "("+canon(k)+", "+canon(v.values[k])+")")
		}
	case []any:
		for _, e := range v {
			parts = append(parts, canon(e))
		}
	case string:
		if strings.Contains(v, "'") {
			return `"` + v + `"`
		}
		return "'" + v + "'"
	case nil:
		return "None"
	default:
		return fmt.Sprint(v)
	}
	return tuple(parts)
}

func tuple(parts []string) string {
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// airline is the airline domain of tau-bench as a world in Go.
type airline struct {
	base  map[string]*object           // by kind: flights, reservations, users
	texts map[string]map[string]string // canon of each record
	whole map[string]string            // canon of all records of a kind
}

// Tools implements world.Kind.
func (a *airline) Tools() []tool.Spec { return nil }

// Open implements world.Kind.
func (a *airline) Open(context.Context, world.Start) (world.World, error) {
	return &airlineWorld{a, map[[2]string]*object{}}, nil
}

type airlineWorld struct {
	*airline
	own map[[2]string]*object // records that were changed or made
}

// Close implements world.World.
func (w *airlineWorld) Close() error { return nil }

// State implements world.World.
func (w *airlineWorld) State(context.Context) (json.RawMessage, error) {
	records := map[string]json.RawMessage{}
	for kind := range w.base {
		for id := range w.changed(kind) {
			records[kind+"/"+id] = json.RawMessage(dumps(w.see(kind, id)))
		}
	}
	return canonicalJSON(map[string]any{"hash": w.hash(), "records": records})
}

func canonicalJSON(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return tool.Canonical(text)
}

func (w *airlineWorld) hash() string {
	var kinds []string
	for _, kind := range []string{"flights", "reservations", "users"} {
		text := w.whole[kind]
		if changed := w.changed(kind); len(changed) > 0 {
			text = wholeOf(w.texts[kind], changed)
		}
		kinds = append(kinds, "("+canon(kind)+", "+text+")")
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte("("+strings.Join(kinds, ", ")+")")))
}

// changed returns the texts of the changed and new records of a kind.
func (w *airlineWorld) changed(kind string) map[string]string {
	texts := map[string]string{}
	for at, r := range w.own {
		if text := canon(r); at[0] == kind && text != w.texts[kind][at[1]] {
			texts[at[1]] = text
		}
	}
	return texts
}

// wholeOf returns the text of all records of a kind.
func wholeOf(base, changed map[string]string) string {
	texts := maps.Clone(base)
	maps.Copy(texts, changed)
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		parts = append(parts, "("+canon(id)+", "+texts[id]+")")
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Call implements world.World.
func (w *airlineWorld) Call(_ context.Context, c tool.Call, _ time.Time) (world.Effect, error) {
	run, ok := airlineTools[c.Name]
	if !ok {
		return world.Return("Unknown action " + c.Name), nil
	}
	e := world.Return(run(w, decoded(c.Args)))
	e.Changed = true
	return e, nil
}

func (w *airlineWorld) see(kind, id string) *object {
	if r, ok := w.own[[2]string{kind, id}]; ok {
		return r
	}
	return w.base[kind].object(id)
}

func (w *airlineWorld) edit(kind, id string) *object {
	at := [2]string{kind, id}
	if w.own[at] == nil {
		w.own[at] = copied(w.base[kind].object(id)).(*object)
	}
	return w.own[at]
}

var airlineTools = map[string]func(*airlineWorld, *object) string{
	"book_reservation": (*airlineWorld).book, "cancel_reservation": (*airlineWorld).cancel,
	"update_reservation_flights": (*airlineWorld).updateFlights, "update_reservation_baggages": (*airlineWorld).updateBaggages,
	"update_reservation_passengers": (*airlineWorld).updatePassengers, "send_certificate": (*airlineWorld).sendCertificate,
	"get_reservation_details": (*airlineWorld).reservation, "get_user_details": (*airlineWorld).user,
	"search_direct_flight": (*airlineWorld).direct, "search_onestop_flight": (*airlineWorld).oneStop,
	"list_all_airports":        func(*airlineWorld, *object) string { return airports },
	"calculate":                func(_ *airlineWorld, a *object) string { return calculate(a.text("expression")) },
	"think":                    func(*airlineWorld, *object) string { return "" },
	"transfer_to_human_agents": func(*airlineWorld, *object) string { return "Transfer successful" },
}

const airports = `{"SFO": "San Francisco", "JFK": "New York", "LAX": "Los Angeles", "ORD": "Chicago", "DFW": "Dallas", "DEN": "Denver", "SEA": "Seattle", "ATL": "Atlanta", "MIA": "Miami", "BOS": "Boston", "PHX": "Phoenix", "IAH": "Houston", "LAS": "Las Vegas", "MCO": "Orlando", "EWR": "Newark", "CLT": "Charlotte", "MSP": "Minneapolis", "DTW": "Detroit", "PHL": "Philadelphia", "LGA": "LaGuardia"}`

// seat sets the price of one leg. It returns an error text if the leg cannot be sold.
func (w *airlineWorld) seat(leg *object, cabin string, people int) string {
	no, day := leg.text("flight_number"), leg.text("date")
	f := w.see("flights", no)
	if f == nil {
		return "Error: flight " + no + " not found"
	}
	d := f.object("dates").object(day)
	switch {
	case d == nil:
		return "Error: flight " + no + " not found on date " + day
	case d.text("status") != "available":
		return "Error: flight " + no + " not available on date " + day
	case d.object("available_seats").int(cabin) < people:
		return "Error: not enough seats on flight " + no
	}
	leg.set("price", d.object("prices").int(cabin))
	leg.set("origin", f.text("origin"))
	leg.set("destination", f.text("destination"))
	return ""
}

func (w *airlineWorld) book(a *object) string {
	userID := a.text("user_id")
	if w.see("users", userID) == nil {
		return "Error: user not found"
	}
	ids := []string{"HATHAT", "HATHAU", "HATHAV"}
	for len(ids) > 1 && w.see("reservations", ids[0]) != nil {
		ids = ids[1:]
	}
	legs, n, total := copied(a.list("flights")).([]any), len(a.list("passengers")), 50*a.int("nonfree_baggages")
	for _, leg := range legs {
		if failed := w.seat(leg.(*object), a.text("cabin"), n); failed != "" {
			return failed
		}
		total += leg.(*object).int("price") * n
	}
	if a.text("insurance") == "yes" {
		total += 30 * n
	}
	paymentMethods, paid := w.see("users", userID).object("payment_methods"), 0
	for _, p := range a.list("payment_methods") {
		id, amount := p.(*object).text("payment_id"), p.(*object).int("amount")
		paid += amount
		m := paymentMethods.object(id)
		if m == nil {
			return "Error: payment method " + id + " not found"
		}
		if s := m.text("source"); s != "credit_card" && m.int("amount") < amount {
			return "Error: not enough balance in payment method " + id
		}
	}
	if paid != total {
		return fmt.Sprintf("Error: payment amount does not add up, total price is %d, but paid %d", total, paid)
	}
	user := w.edit("users", userID)
	for _, p := range a.list("payment_methods") {
		id := p.(*object).text("payment_id")
		switch m := user.object("payment_methods").object(id); m.text("source") {
		case "gift_card":
			m.set("amount", m.int("amount")-p.(*object).int("amount"))
		case "certificate":
			user.object("payment_methods").delete(id)
		}
	}
	r := newObject("reservation_id", ids[0])
	for _, k := range []string{"user_id", "origin", "destination", "flight_type", "cabin"} {
		r.set(k, a.values[k])
	}
	r = r.with("flights", legs, "passengers", a.values["passengers"], "payment_history", a.values["payment_methods"],
		"created_at", "2024-05-15T15:00:00", "total_baggages", a.values["total_baggages"],
		"nonfree_baggages", a.values["nonfree_baggages"], "insurance", a.values["insurance"])
	w.own[[2]string{"reservations", ids[0]}] = r
	user.set("reservations", append(user.list("reservations"), ids[0]))
	return dumps(r)
}

// charge debits a payment method for a change; it returns an error text if it cannot.
func (w *airlineWorld) charge(userID, payment string, amount int) string {
	m := w.see("users", userID).object("payment_methods").object(payment)
	switch {
	case m == nil:
		return "Error: payment method not found"
	case m.text("source") == "certificate":
		return "Error: certificate cannot be used to update reservation"
	case m.text("source") != "gift_card":
		return ""
	case m.int("amount") < amount:
		return "Error: gift card balance is not enough"
	}
	w.edit("users", userID).object("payment_methods").object(payment).set("amount", m.int("amount")-amount)
	return ""
}

// pay charges for a change of a reservation and returns it for editing.
func (w *airlineWorld) pay(a, old *object, total int) (*object, string) {
	if failed := w.charge(old.text("user_id"), a.text("payment_id"), total); failed != "" {
		return nil, failed
	}
	r := w.edit("reservations", a.text("reservation_id"))
	if total != 0 {
		r.set("payment_history", append(r.list("payment_history"), newObject("payment_id", a.text("payment_id"), "amount", total)))
	}
	return r, ""
}

func (w *airlineWorld) updateFlights(a *object) string {
	old := w.see("reservations", a.text("reservation_id"))
	if old == nil {
		return "Error: reservation not found"
	}
	n, total, legs := len(old.list("passengers")), 0, copied(a.list("flights")).([]any)
	for _, l := range legs {
		leg := l.(*object)
		kept := slices.IndexFunc(old.list("flights"), func(f any) bool {
			return a.text("cabin") == old.text("cabin") && f.(*object).text("flight_number") == leg.text("flight_number") && f.(*object).text("date") == leg.text("date")
		})
		if kept >= 0 {
			for _, k := range []string{"price", "origin", "destination"} {
				leg.set(k, old.list("flights")[kept].(*object).values[k])
			}
		} else if failed := w.seat(leg, a.text("cabin"), n); failed != "" {
			return failed
		}
		total += leg.int("price") * n
	}
	for _, f := range old.list("flights") {
		total -= f.(*object).int("price") * n
	}
	r, failed := w.pay(a, old, total)
	if failed != "" {
		return failed
	}
	r.set("flights", legs)
	return dumps(r)
}

func (w *airlineWorld) updateBaggages(a *object) string {
	old := w.see("reservations", a.text("reservation_id"))
	if old == nil {
		return "Error: reservation not found"
	}
	r, failed := w.pay(a, old, 50*max(0, a.int("nonfree_baggages")-old.int("nonfree_baggages")))
	if failed != "" {
		return failed
	}
	r.set("total_baggages", a.values["total_baggages"])
	r.set("nonfree_baggages", a.values["nonfree_baggages"])
	return dumps(r)
}

func (w *airlineWorld) updatePassengers(a *object) string {
	old := w.see("reservations", a.text("reservation_id"))
	switch {
	case old == nil:
		return "Error: reservation not found"
	case len(old.list("passengers")) != len(a.list("passengers")):
		return "Error: number of passengers does not match"
	}
	r := w.edit("reservations", a.text("reservation_id"))
	r.set("passengers", a.values["passengers"])
	return dumps(r)
}

func (w *airlineWorld) cancel(a *object) string {
	id := a.text("reservation_id")
	if w.see("reservations", id) == nil {
		return "Error: reservation not found"
	}
	r := w.edit("reservations", id)
	history := r.list("payment_history")
	for _, p := range history {
		history = append(history, newObject("payment_id", p.(*object).text("payment_id"), "amount", -p.(*object).int("amount")))
	}
	r.set("payment_history", history)
	r.set("status", "cancelled")
	return dumps(r)
}

func (w *airlineWorld) sendCertificate(a *object) string {
	userID, amount := a.text("user_id"), a.int("amount")
	if w.see("users", userID) == nil {
		return "Error: user not found"
	}
	for n := 3221322; ; n++ {
		id := fmt.Sprintf("certificate_%d", n)
		if w.see("users", userID).object("payment_methods").object(id) == nil {
			w.edit("users", userID).object("payment_methods").set(id, newObject("source", "certificate", "amount", amount, "id", id))
			return fmt.Sprintf("Certificate %s added to user %s with amount %d.", id, userID, amount)
		}
	}
}

func (w *airlineWorld) reservation(a *object) string {
	return found(w.see("reservations", a.text("reservation_id")))
}

func (w *airlineWorld) user(a *object) string { return found(w.see("users", a.text("user_id"))) }

func found(r *object) string {
	if r == nil {
		return "Error: user not found"
	}
	return dumps(r)
}

// onDay returns a flight with the seats and prices of a day, if it can be booked on
// that day.
func onDay(f *object, day string) *object {
	d := f.object("dates").object(day)
	out := f.with()
	out.delete("dates")
	for _, k := range d.keys {
		out.set(k, d.values[k])
	}
	return out
}

func isFree(f *object, day string) bool {
	d := f.object("dates").object(day)
	return d != nil && d.text("status") == "available"
}

func (w *airlineWorld) direct(a *object) string {
	out, day := []any{}, a.text("date")
	for _, no := range w.base["flights"].keys {
		f := w.base["flights"].object(no)
		if f.text("origin") == a.text("origin") && f.text("destination") == a.text("destination") && isFree(f, day) {
			out = append(out, onDay(f, day))
		}
	}
	return dumps(out)
}

func (w *airlineWorld) oneStop(a *object) string {
	out, day := []any{}, a.text("date")
	for _, one := range w.base["flights"].keys {
		first := w.base["flights"].object(one)
		if first.text("origin") != a.text("origin") {
			continue
		}
		arrival, day2 := first.text("scheduled_arrival_time_est"), day
		if strings.Contains(arrival, "+1") {
			n, _ := strconv.Atoi(day[len(day)-2:])
			day2 = fmt.Sprintf("2024-05-%d", n+1)
		}
		for _, two := range w.base["flights"].keys {
			second := w.base["flights"].object(two)
			if first.text("destination") == second.text("origin") && second.text("destination") == a.text("destination") &&
				arrival <= second.text("scheduled_departure_time_est") && isFree(first, day) && isFree(second, day2) {
				out = append(out, []any{onDay(first, day).with("date", day), onDay(second, day).with("date", day2)})
			}
		}
	}
	return dumps(out)
}

// calculate evaluates Python's str(round(float(eval(expression)), 2)).
func calculate(expression string) string {
	if strings.Trim(expression, "0123456789+-*/(). ") != "" {
		return "Error: invalid characters in expression"
	}
	e, err := parser.ParseExpr(expression)
	if err != nil {
		return "Error: " + err.Error()
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(number(e), 'f', 2, 64), 64)
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func number(e ast.Expr) float64 {
	switch e := e.(type) {
	case *ast.BasicLit:
		n, _ := strconv.ParseFloat(e.Value, 64)
		return n
	case *ast.ParenExpr:
		return number(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			return -number(e.X)
		}
		return number(e.X)
	case *ast.BinaryExpr:
		a, b := number(e.X), number(e.Y)
		return map[token.Token]float64{token.ADD: a + b, token.SUB: a - b, token.MUL: a * b, token.QUO: a / b}[e.Op]
	}
	return math.NaN()
}
