package model

import (
	"cmp"
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
	// lost are episodes without a result, for which the candidate is not to blame. attacks are
	// attacked episodes: those lost are among lost, no others among scored, solved or stepped.
	lost    int32
	attacks assaults
	// plain and attacked are scored episodes, without attack and with, by the judges that decided
	// them.
	plain, attacked ratings
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
			c.changing + o.changing, c.harmful + o.harmful, c.changes || o.changes, c.lost + o.lost, c.attacks.plus(o.attacks),
			c.plain.plus(o.plain), c.attacked.plus(o.attacked),
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

// sample lists sums by cluster as share does, with how many observations are missing of each.
func (b taskCounts) sample(of func(*counted) (k, n float64), missing func(*counted) float64) (s sample) {
	for _, cluster := range slices.Sorted(maps.Keys(b)) {
		c := b[cluster]
		k, n := of(c)
		s.clusters = append(s.clusters, stat.Cluster{Num: k, Den: n})
		s.missing = append(s.missing, missing(c))
	}
	return s
}

// lostOf are lost episodes, lostPlain those of them without attack.
func lostOf(c *counted) float64    { return float64(c.lost) }
func lostPlain(c *counted) float64 { return float64(c.lost - c.attacks.lost) }

func solvedOf(c *counted) (k, n float64)   { return float64(c.solved), float64(c.scored) }
func validOf(c *counted) (k, n float64)    { return float64(c.valid), float64(c.judged) }
func withinOf(c *counted) (k, n float64)   { return float64(c.within), float64(c.stepped) }
func repairedOf(c *counted) (k, n float64) { return float64(c.repaired), float64(c.judged) }
func thrashOf(c *counted) (k, n float64)   { return float64(c.thrash), c.all() }
func stallOf(c *counted) (k, n float64)    { return float64(c.stall), c.all() }

// all are the scored episodes, attacked or not.
func (c *counted) all() float64 { return float64(c.scored + c.attacks.scored) }

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

// clustersOf are the clusters of a run's tasks that are not clusters of their own.
func clustersOf(m manifest.Manifest) map[string]string {
	clusters := map[string]string{}
	for _, t := range m.Tasks {
		if c := t.Cluster(); c != t.ID {
			clusters[t.ID] = c
		}
	}
	return clusters
}

// clusterOf is the cluster of a task, see manifest.Task.Cluster.
func clusterOf(clusters map[string]string, task string) string { return cmp.Or(clusters[task], task) }
