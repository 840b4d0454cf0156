package sim

func (s *scholar) steps() []planStep { return nil }
