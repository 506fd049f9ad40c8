package feed

// Name names one of an agent's feeds. Each has a session, retries and a time of the
// last refresh of its own; what was shown in one is not shown in another.
type Name string

// The feeds. The zero value counts as [ForYou].
const (
	ForYou   Name = "for_you" // items by the agent's interests
	HomeFeed Name = "home"    // posts by whom the agent follows, blended with what is trending, discovered and promoted
)

// Other is the feed that an agent has beside this one.
func (n Name) Other() Name {
	if n == HomeFeed {
		return ForYou
	}
	return HomeFeed
}

// Check reports whether there is such a feed. The error wraps [ErrInvalid].
func (n Name) Check() error {
	switch n {
	case "", ForYou, HomeFeed:
		return nil
	}
	return Errorf(ErrInvalid, "bad feed: %q; send for_you or home", string(n))
}
