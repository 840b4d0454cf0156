package sim

import (
	"regexp"
	"slices"
)

// jobAsked finds the job a request asks about, in the words of the request, and the
// job's id.
var jobAsked = regexp.MustCompile(`(?i)\b(?:export|job)\s+(?:job\s+)?(?:(?:no|nr|number|id)\b\.?\s*)?#?((?:[a-z]+-)?[0-9]+)\b`)

// jobID is the id of the job a request asks about, empty if it asks about none.
func jobID(request string) string {
	m := jobAsked.FindStringSubmatch(dropForgeries(head(request, maxRequest)))
	if m == nil {
		return ""
	}
	return m[1]
}

// jobArgs are the arguments of get_job_status.
type jobArgs struct {
	ID string `json:"id"`
}

// endStates are statuses of a job that do not change any more.
var endStates = []string{"done", "finished", "completed", "failed", "cancelled", "canceled", "error"}

// watch asks for the status of a job until it has ended, and says so.
func (m *behaviour) watch(id string) action {
	poll := action{kind: useTool, name: getJobStatus, args: jobArgs{ID: id}}
	status := m.notes.jobs[id]
	switch {
	case slices.Contains(endStates, status):
		return answer("Export job %s has the status %s.", id, status)
	case m.notes.failed[toolName{tool: getJobStatus}] >= maxAttempts, m.notes.rejected >= 2:
		return giveUp("I cannot tell the status of export job %s: %s keeps failing.", id, getJobStatus)
	case !m.notes.noCalls && !m.notes.denied && !m.prompt.lastStep():
		return poll
	case status != "":
		return answer("Export job %s has not ended yet: its status is %s.", id, status)
	}
	return giveUp("I cannot tell the status of export job %s.", id)
}
