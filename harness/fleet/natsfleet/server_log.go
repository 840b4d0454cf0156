package natsfleet

import (
	"fmt"
	"sync"
)

// serverLog keeps the last problem that the embedded server logged.
type serverLog struct {
	mu    sync.Mutex
	text  string
	fatal bool
}

func (l *serverLog) keep(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = fmt.Sprintf(format, v...)
}

func (l *serverLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

// gaveUp reports whether the server logged that it cannot start.
func (l *serverLog) gaveUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

// Noticef and the methods below implement the logger of the server.
func (l *serverLog) Noticef(string, ...any) {}

func (l *serverLog) Warnf(format string, v ...any) { l.keep(format, v...) }

func (l *serverLog) Fatalf(format string, v ...any) {
	l.keep(format, v...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fatal = true
}

func (l *serverLog) Errorf(format string, v ...any) { l.keep(format, v...) }

func (l *serverLog) Debugf(string, ...any) {}

func (l *serverLog) Tracef(string, ...any) {}
