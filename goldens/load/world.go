package load

import (
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/process"
)

var worldFields = []string{"from", "kind", "now", "zone", "state", "process", "env", "clock_step", "latency", "human"}

// suiteWorld is a world as a suite describes it.
type suiteWorld struct {
	world.Spec
	// state is the decoded State, stateAt where it is written: the last change first.
	state   any
	stateAt []yamlfile.Place
	process *process.Kind // the command that implements it; nil if none does
	human   []human.Rule  // for tasks that have no rule for a request
	// valid reports that reading it found no problem, so that using it may.
	valid bool
}

// namedWorld is one entry of a suite's worlds.
type namedWorld struct {
	yamlfile.Place
	suiteWorld
	open, done, used bool
}

// readWorlds reads the named worlds, each after the one it starts from.
func (l *loader) readWorlds(suite yamlfile.Object) {
	l.worlds = map[string]*namedWorld{}
	p, ok := suite.Get("worlds")
	if !ok {
		return
	}
	for _, e := range p.Entries() {
		e.KeyAt.CheckName(yamlfile.LowerName, e.Key)
		l.worlds[e.Key] = &namedWorld{Place: e.Value}
		l.worldNames = append(l.worldNames, e.Key)
	}
	for _, name := range l.worldNames {
		l.resolve(l.worlds[name])
	}
}

func (l *loader) resolve(w *namedWorld) {
	if w.done || w.open {
		return
	}
	w.open = true
	w.suiteWorld = l.world(w.Place)
	w.open, w.done = false, true
}

// named returns the world p names. It is not valid when it cannot be built on.
func (l *loader) named(p yamlfile.Place) suiteWorld {
	name := p.Choice(l.worldNames...)
	if name == "" {
		return suiteWorld{}
	}
	w := l.worlds[name]
	if w.open {
		p.Failf("world %s starts from itself", name)
		return suiteWorld{}
	}
	l.resolve(w)
	w.used = true
	return w.suiteWorld
}

// world reads a mapping of world fields over the world it starts from.
func (l *loader) world(p yamlfile.Place) suiteWorld {
	before := len(l.found.List)
	o := p.Object(worldFields)
	w := suiteWorld{valid: true}
	yamlfile.Read(o, "from", &w, l.named)
	readClock(o, &w.Spec)
	yamlfile.Read(o, "env", &w.Env, func(p yamlfile.Place) map[string]string { return environment(p, w.Env) })
	yamlfile.Read(o, "clock_step", &w.ClockStep, yamlfile.Place.Duration)
	yamlfile.Read(o, "latency", &w.Latency, func(p yamlfile.Place) map[string]time.Duration { return l.latency(p, w.Latency) })
	if p, ok := o.Get("human"); ok {
		own := human.ReadRules(p)
		w.human, l.rules = slices.Concat(own.List, w.human), append(l.rules, own)
	}
	l.readKind(o, &w)
	w.valid = w.valid && len(l.found.List) == before
	return w
}

// readClock reads now and zone. The offset people write beside a time must be
// the zone's at that time: one that is not is a slip across a clock change.
func readClock(o yamlfile.Object, w *world.Spec) {
	yamlfile.Read(o, "zone", &w.Zone, zone)
	now, given := o.Get("now")
	utc := true
	if given {
		text := now.Text()
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			now.Failf("must be a time with its offset, such as 2026-05-13T12:00:00-04:00, but is %q", text)
			return
		}
		w.Now, utc = at, strings.HasSuffix(text, "Z")
	}
	if w.Zone == nil || w.Now.IsZero() {
		return
	}
	_, written := w.Now.Zone()
	local := w.Now.In(w.Zone)
	if _, offset := local.Zone(); given && !utc && offset != written {
		now.Failf("the offset in %s at that time is %s: write %s, or give the time in Z", w.Zone, local.Format("-07:00"), local.Format(time.RFC3339))
	}
	w.Now = local
}

func zone(p yamlfile.Place) *time.Location {
	before := len(p.Src.Found.List)
	name := p.Filled()
	if len(p.Src.Found.List) > before {
		return nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		p.Failf("%q is not a time zone; write one such as America/New_York or UTC", name)
		return nil
	}
	return loc
}

// latency reads durations by tool over base.
func (l *loader) latency(p yamlfile.Place, base map[string]time.Duration) map[string]time.Duration {
	out := map[string]time.Duration{}
	maps.Copy(out, base)
	for _, e := range p.Entries() {
		if _, ok := l.tools.places[e.Key]; !ok {
			e.KeyAt.Failf("the suite has no tool %q%s; it has: %s", e.Key, yamlfile.Suggest(e.Key, l.tools.names()), yamlfile.Listed(l.tools.names()))
		}
		out[e.Key] = e.Value.Duration()
	}
	return out
}

// environment reads variables over those of the world it starts from.
func environment(p yamlfile.Place, base map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, base)
	for _, e := range p.Entries() {
		out[e.Key] = e.Value.Filled()
	}
	return out
}

// taskWorld reads a task's world: a name, a mapping, or the suite's default. A world
// without a clock has the fixed one. The rules are those of its people.
func (l *loader) taskWorld(o yamlfile.Object) (world.Spec, []human.Rule) {
	p, given := o.Get("world")
	w := suiteWorld{valid: true}
	switch {
	case given && p.Kind() == "a mapping":
		w = l.world(p)
	case given:
		w = l.named(p)
	case l.defaults.world != "":
		d := l.worlds[l.defaults.world]
		d.used = true
		w = d.suiteWorld
	}
	if w.Zone == nil {
		w.Zone = time.UTC
	}
	if w.Now.IsZero() {
		w.Now = world.DefaultNow
	}
	w.Now = w.Now.In(w.Zone)
	return w.Spec, w.human
}
