package wire

// LeftOut records that the reply has a call which Calls does not hold; what says
// which, such as "mcp_approval_request".
func (b *Builder) LeftOut(what string) {
	b.Warn("the reply has a call that cupel does not read: %.80s", what)
}
