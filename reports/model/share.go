package model

import (
	"maps"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// counted are the counts of one cluster: of scored episodes, judged turns, and solved
// episodes whose steps count.
type counted struct {
	scored, solved, thrash, stall int32
	judged, valid, repaired       int32
	stepped, within               int32
	// asking are the solved episodes whose questions count; of all these come the sums of
	// steps and of questions.
	asking           int32
	steps, clarifies int64
	// changing are scored episodes whose world can change, harmful those of them that did
	// harm. changes says that the world of an episode, scored or not, can change.
	changing, harmful int32
	changes           bool
	// lost are episodes without a result, for which the candidate is not to blame.
	lost int32
}

// taskCounts are counts by cluster: by task, or by session where a task is part of one.
// The zero value is empty.
type taskCounts map[string]*counted

// of returns the counts of a cluster.
func (b *taskCounts) of(cluster string) *counted {
	c := (*b)[cluster]
	if c == nil {
		if *b == nil {
			*b = taskCounts{}
		}
		c = &counted{}
		(*b)[cluster] = c
	}
	return c
}

// merge adds other counts.
func (b *taskCounts) merge(other taskCounts) {
	for cluster, o := range other {
		c := b.of(cluster)
		*c = counted{
			c.scored + o.scored, c.solved + o.solved, c.thrash + o.thrash, c.stall + o.stall,
			c.judged + o.judged, c.valid + o.valid, c.repaired + o.repaired,
			c.stepped + o.stepped, c.within + o.within, c.asking + o.asking,
			c.steps + o.steps, c.clarifies + o.clarifies,
			c.changing + o.changing, c.harmful + o.harmful, c.changes || o.changes, c.lost + o.lost,
		}
	}
}

// share lists k of n by cluster, in the order of their names, without those of which
// there is nothing.
func (b taskCounts) share(of func(*counted) (k, n float64)) (list []stat.Cluster) {
	for _, cluster := range slices.Sorted(maps.Keys(b)) {
		if k, n := of(b[cluster]); n > 0 {
			list = append(list, stat.Cluster{Num: k, Den: n})
		}
	}
	return list
}

// sample lists sums by cluster as share does, with what the lost episodes would have added
// at most: size observations each.
func (b taskCounts) sample(of func(*counted) (k, n float64), size int) (s sample) {
	for _, cluster := range slices.Sorted(maps.Keys(b)) {
		c := b[cluster]
		k, n := of(c)
		s.clusters = append(s.clusters, stat.Cluster{Num: k, Den: n})
		s.missing = append(s.missing, float64(c.lost)*float64(size))
	}
	return s
}

func solvedOf(c *counted) (k, n float64)   { return float64(c.solved), float64(c.scored) }
func validOf(c *counted) (k, n float64)    { return float64(c.valid), float64(c.judged) }
func withinOf(c *counted) (k, n float64)   { return float64(c.within), float64(c.stepped) }
func repairedOf(c *counted) (k, n float64) { return float64(c.repaired), float64(c.judged) }
func thrashOf(c *counted) (k, n float64)   { return float64(c.thrash), float64(c.scored) }
func stallOf(c *counted) (k, n float64)    { return float64(c.stall), float64(c.scored) }

// stepsOf and clarifiesOf are means: sums of so many solved episodes.
func stepsOf(c *counted) (k, n float64)     { return float64(c.steps), float64(c.stepped) }
func clarifiesOf(c *counted) (k, n float64) { return float64(c.clarifies), float64(c.asking) }

// one is 1 for what is so.
func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

// newShare is the share over clusters.
func newShare(clusters []stat.Cluster, confidence float64) Share {
	s := Share{}
	for _, c := range clusters {
		s.K, s.N = s.K+int(c.Num), s.N+int(c.Den)
	}
	if s.N > 0 {
		s.Value = new(float64(s.K) / float64(s.N))
	}
	if iv, ok := stat.ShareInterval(clusters, confidence); ok {
		s.Interval = &iv
	}
	if effect, ok := stat.DesignEffect(clusters); ok {
		s.DesignEffect = &effect
	}
	return s
}

// sessionsOf are the sessions of a run's tasks that are part of one.
func sessionsOf(m manifest.Manifest) map[string]string {
	sessions := map[string]string{}
	for _, t := range m.Tasks {
		if t.Session != "" {
			sessions[t.ID] = t.Session
		}
	}
	return sessions
}

// clusterOf is the cluster of a task: its session, since an episode of a session
// remembers the earlier ones, or the task itself.
func clusterOf(sessions map[string]string, task string) string {
	if s := sessions[task]; s != "" {
		return "session " + s
	}
	return task
}
