package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// refuseWrites makes the disk of a process full, or no longer so: it may not make a file larger.
func (c *process) refuseWrites(t *testing.T, full bool) {
	t.Helper()
	limit := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if full {
		limit.Cur = 1
	}
	require.NoError(t, unix.Prlimit(c.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
}

// A queue whose disk is full or read-only while it runs ends and says so. Everybody waits, also for longer
// than a lease, and continues with the next queue: nothing that was finished is paid twice.
func TestQueueWithoutDisk(t *testing.T) {
	testkit.Slow(t)
	p := newPlant(t, 100*time.Millisecond)
	for range 2 {
		p.workers = append(p.workers, p.startWorker())
	}
	lead := p.start("run", "--queue", p.url, "--mode", "record", "--runs", "fleet", "--lease", p.lease, "--max-requests", "300")
	for { // until some exchanges are stored
		if all, _ := p.counts(); all >= 30 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.queue.refuseWrites(t, true)
	before, _ := p.counts()
	<-p.queue.over
	says := p.queue.out.String()
	require.Equal(t, 1, p.queue.ProcessState.ExitCode(), says)
	require.Contains(t, says, "cannot store the queue in queue: ")
	require.Contains(t, says, "file too large")
	require.Contains(t, says, "start the queue again with the same folder")
	time.Sleep(3 * time.Second) // longer than the lease
	while, _ := p.counts()
	require.LessOrEqual(t, while-before, 2*2*perWorker, "what cannot be stored is not followed by another request")

	p.startQueue(strings.TrimPrefix(p.url, "nats://"))
	<-lead.over
	require.Zero(t, lead.ProcessState.ExitCode(), "%s", lead.out)
	require.Contains(t, lead.out.String(), "lost the queue")
	require.NotContains(t, lead.out.String(), "no worker is there")
	p.requireSound(1, lead.out.String()+p.workers[0].out.String()) // nothing is asked again
}
