package goldens

import (
	"maps"
	"strings"
	"time"
	_ "time/tzdata" // zones must mean the same on machines without a zone database
)

var worldFields = []string{"from", "now", "zone", "counts", "documents", "env", "clock_step", "latency", "job_status"}

// maxCount is the largest number JSON readers agree on.
const maxCount = 1<<53 - 1

// namedWorld is one entry of a suite's worlds.
type namedWorld struct {
	place
	spec WorldSpec
	// sound says that reading it found no problem, so that using it may.
	sound, open, done, used bool
}

// readWorlds reads the named worlds, each after the one it starts from.
func (l *loader) readWorlds(suite object) {
	l.worlds = map[string]*namedWorld{}
	p, ok := suite.get("worlds")
	if !ok {
		return
	}
	for _, e := range p.entries() {
		e.keyAt.checkName(lowerName, e.key)
		l.worlds[e.key] = &namedWorld{place: e.value}
		l.worldNames = append(l.worldNames, e.key)
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
	w.spec, w.sound = l.world(w.place)
	w.open, w.done = false, true
}

// named returns the world p names. ok is false when it cannot be built on.
func (l *loader) named(p place) (spec WorldSpec, ok bool) {
	name := p.choice(l.worldNames...)
	if name == "" {
		return WorldSpec{}, false
	}
	w := l.worlds[name]
	if w.open {
		p.failf("world %s starts from itself", name)
		return WorldSpec{}, false
	}
	l.resolve(w)
	w.used = true
	return w.spec, w.sound
}

// world reads a mapping of world fields over the world it starts from.
func (l *loader) world(p place) (w WorldSpec, sound bool) {
	before := len(l.found.list)
	o := p.object(worldFields)
	sound = true
	if p, ok := o.get("from"); ok {
		w, sound = l.named(p)
	}
	readClock(o, &w)
	if p, ok := o.get("counts"); ok {
		w.Counts = counts(p, w.Counts)
	}
	if p, ok := o.get("documents"); ok {
		w.Documents = documents(p, w.Documents)
	}
	if p, ok := o.get("env"); ok {
		w.Env = environment(p, w.Env)
	}
	if p, ok := o.get("clock_step"); ok {
		w.ClockStep = p.duration()
	}
	if p, ok := o.get("latency"); ok {
		w.Latency = l.latency(p, w.Latency)
	}
	if p, ok := o.get("job_status"); ok {
		if w.JobStatus = p.texts(); len(w.JobStatus) == 0 {
			p.failf("must hold at least one status")
		}
	}
	return w, sound && len(l.found.list) == before
}

// readClock reads now and zone. The offset people write beside a time must be
// the zone's at that time: one that is not is a slip across a clock change.
func readClock(o object, w *WorldSpec) {
	if p, ok := o.get("zone"); ok {
		w.Zone = zone(p)
	}
	now, given := o.get("now")
	utc := true
	if given {
		text := now.text()
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			now.failf("must be a time with its offset, such as 2026-05-13T12:00:00-04:00, but is %q", text)
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
		now.failf("the offset in %s at that time is %s: write %s, or give the time in Z", w.Zone, local.Format("-07:00"), local.Format(time.RFC3339))
	}
	w.Now = local
}

func zone(p place) *time.Location {
	before := len(p.src.found.list)
	name := p.filled()
	if len(p.src.found.list) > before {
		return nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		p.failf("%q is not a time zone; write one such as America/New_York or UTC", name)
		return nil
	}
	return loc
}

// counts reads a table date by date over base; an empty date takes the date's
// data away.
func counts(p place, base map[string]map[string]int64) map[string]map[string]int64 {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]map[string]int64{}
	}
	for _, e := range p.entries() {
		if _, err := parseDate(e.key); err != nil {
			e.keyAt.failf("%q %v", e.key, err)
			continue
		}
		if e.value.null() {
			if _, ok := base[e.key]; !ok {
				e.value.failf("there is no data to take away")
			}
			delete(out, e.key)
			continue
		}
		day := map[string]int64{}
		for _, c := range e.value.entries() {
			day[c.key] = c.value.integer(0, maxCount)
		}
		out[e.key] = day
	}
	return out
}

// latency reads durations by tool over base.
func (l *loader) latency(p place, base map[string]time.Duration) map[string]time.Duration {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]time.Duration{}
	}
	for _, e := range p.entries() {
		if _, ok := l.tools.places[e.key]; !ok {
			e.keyAt.failf("the suite has no tool %q%s; it has: %s", e.key, suggest(e.key, l.tools.names()), listed(l.tools.names()))
		}
		out[e.key] = e.value.duration()
	}
	return out
}

// environment reads variables over those of the world it starts from.
func environment(p place, base map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	for _, e := range p.entries() {
		out[e.key] = e.value.filled()
	}
	return out
}

// taskWorld reads a task's world: a name, a mapping, or the suite's default.
func (l *loader) taskWorld(o object) WorldSpec {
	p, given := o.get("world")
	var w WorldSpec
	sound := true
	switch {
	case given && p.kind() == "a mapping":
		w, sound = l.world(p)
	case given:
		w, sound = l.named(p)
	case l.defaults.world != "":
		d := l.worlds[l.defaults.world]
		d.used = true
		w, sound = d.spec, d.sound
	}
	if !sound {
		return w
	}
	at := o.fieldAt("world")
	if w.Now.IsZero() {
		at.failf("has no now: give one, or start from a world that has it")
	}
	if w.Zone == nil {
		at.failf("has no zone: give one, or start from a world that has it")
	}
	return w
}
