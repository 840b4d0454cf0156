package natsfleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/fleet"
)

// blob is a file in the data of a unit.
type blob struct {
	Subject string `json:"subject"`
	Digest  string `json:"digest"`
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// messageHead is room for what else a message has beside its data.
const messageHead = 4 << 10

// appendData adds data to a subject, in as many messages as it needs. It repeats what fails until
// ctx ends. A message that was stored although its publication failed may be stored twice: readData
// knows it by its id.
func appendData(ctx context.Context, q *queue, subject string, data []byte) error {
	most := int(q.nc.MaxPayload()) - messageHead
	for {
		part := data[:min(len(data), most)]
		id := rand.Text()
		err := q.repeat(ctx, "store what was recorded", func() error {
			_, err := q.js.Publish(ctx, subject, part, jetstream.WithMsgID(id))
			return err
		})
		if data = data[len(part):]; err != nil || len(data) == 0 {
			return err
		}
	}
}

// readData returns what was added to a subject, and in how many messages, each of which counts once.
// The queue itself refuses a repeated message only for a time.
func readData(ctx context.Context, q *queue, subject string) (data []byte, messages int, err error) {
	s, err := q.js.Stream(ctx, q.stream("data"))
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	for next := uint64(1); ; {
		msg, err := s.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return data, messages, nil
		}
		if err != nil {
			return nil, 0, err
		}
		next = msg.Sequence + 1
		if id := msg.Header.Get(jetstream.MsgIDHeader); !seen[id] {
			seen[id] = true
			data, messages = append(data, msg.Data...), messages+1
		}
	}
}

// fitted returns a message about a unit, or one that says where it is stored if the queue does not
// take messages of its size. It repeats what fails until ctx ends.
func fitted(ctx context.Context, q *queue, run, unit string, message []byte) ([]byte, error) {
	if len(message) <= int(q.nc.MaxPayload())-messageHead {
		return message, nil
	}
	b := blob{Subject: q.dataSubject(run, unit, "c."+rand.Text()), Digest: digestOf(message)}
	if err := appendData(ctx, q, b.Subject, message); err != nil {
		return nil, err
	}
	return json.Marshal(storedMessage{&b})
}

// unfitted returns the message that fitted made another one of.
func unfitted(ctx context.Context, q *queue, message []byte) ([]byte, error) {
	var m storedMessage
	if err := json.Unmarshal(message, &m); err != nil || m.Stored == nil {
		return message, nil // which is read as what it should be
	}
	return readBlob(ctx, q, *m.Stored)
}

// readBlob reads a file. It fails with errDamaged if it is not the one that was stored.
func readBlob(ctx context.Context, q *queue, b blob) ([]byte, error) {
	data, _, err := readData(ctx, q, b.Subject)
	if err == nil && digestOf(data) != b.Digest {
		err = fmt.Errorf("%w: what is stored as %s has another digest", errDamaged, b.Subject)
	}
	return data, err
}

// appendJournals stores what an earlier process recorded of a unit, unless the queue has a journal.
func appendJournals(ctx context.Context, c *coordinator, unit string, journals map[string][]byte) error {
	for name, data := range journals {
		subject := c.journalSubject(c.run, unit, name)
		err := c.repeat(ctx, "look for what was recorded", func() error {
			_, messages, err := readData(ctx, c.queue, subject)
			if messages > 0 {
				data = nil
			}
			return err
		})
		if err == nil && len(data) > 0 {
			err = appendData(ctx, c.queue, subject, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *queue) journalSubject(run, unit, name string) string {
	return q.dataSubject(run, unit, "j."+token([]string{name}))
}

// unitLog implements fleet.Log for a unit in progress.
type unitLog struct {
	*job
	ctx  context.Context
	unit string
	held *held
	msg  jetstream.Msg
	// sent are the requests that earlier workers began to send, and loaded the exchanges that they
	// finished.
	sent   int
	loaded atomic.Int64
}

// openLog counts what earlier workers have sent.
func (j *job) openLog(ctx context.Context, msg jetstream.Msg, unit string, h *held) (*unitLog, error) {
	l := &unitLog{job: j, ctx: ctx, unit: unit, held: h, msg: msg}
	if j.a.Manifest.Mode == "replay" {
		return l, nil
	}
	log, err := j.js.Stream(ctx, j.stream("log"))
	if err != nil {
		return nil, err
	}
	subject := j.logSubject(j.a.Manifest.RunID, unit, "sent")
	info, err := log.Info(ctx, jetstream.WithSubjectFilter(subject))
	if err != nil {
		return nil, err
	}
	l.sent = int(info.State.Subjects[subject])
	return l, nil
}

// counts are the exchanges of earlier workers, and at most how many of their requests had no reply.
func (l *unitLog) counts() (resumed, repeated int) {
	resumed = int(l.loaded.Load())
	return resumed, max(0, l.sent-resumed)
}

func (l *unitLog) subject(name string) string {
	return l.journalSubject(l.a.Manifest.RunID, l.unit, name)
}

// Load implements fleet.Log. If the unit is no longer in the queue, it has a result, and its
// journals may have been removed.
func (l *unitLog) Load(name string) ([]byte, error) {
	var data []byte
	err := l.repeat(l.ctx, "read what was recorded", func() error {
		read, messages, err := readData(l.ctx, l.queue, l.subject(name))
		data = read
		l.loaded.Add(int64(messages))
		return err
	})
	if err != nil {
		return nil, err
	}
	work, err := l.js.Stream(l.ctx, l.stream("work"))
	if err == nil {
		_, err = work.GetLastMsgForSubject(l.ctx, l.msg.Subject())
	}
	return data, err
}

// Append implements fleet.Log. It continues after the lease is lost, because every worker loses its
// lease while the queue is away. So the next worker need not pay again.
func (l *unitLog) Append(name string, data []byte) error {
	return appendData(l.held.storing, l.queue, l.subject(name), data)
}

// Clear implements fleet.Log.
func (l *unitLog) Clear(name string) error {
	return l.repeat(l.ctx, "remove what was recorded", func() error {
		s, err := l.js.Stream(l.ctx, l.stream("data"))
		if err != nil {
			return err
		}
		return s.Purge(l.ctx, jetstream.WithPurgeSubject(l.subject(name)))
	})
}

// Sending implements fleet.Log. It does not wait for the queue: if the worker is killed within the
// next moment, a request is not counted.
func (l *unitLog) Sending() error {
	if l.expired(l.held) {
		l.held.lost(errLeaseLost)
		return errLeaseLost
	}
	_, _ = l.js.PublishAsync(l.logSubject(l.a.Manifest.RunID, l.unit, "sent"), nil)
	return nil
}

var _ fleet.Log = (*unitLog)(nil)
