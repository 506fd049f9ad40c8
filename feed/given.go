package feed

// GivenMark begins the key of what a feed gave out. No id begins with it: see [CheckItemID].
const GivenMark = "~"

// GivenSources are the sources whose keys name them.
var GivenSources = [...]Source{SourceFollowing, SourceTrending, SourceDiscovery, SourcePromoted, SourceExplore}

// GivenKey is the key by which pending sets and filters remember, beside what was shown,
// which source gave it out; "" for an item that its score alone placed. A post has one
// always, because timelines show posts too, which no ranking has placed.
func (r Ref) GivenKey() string {
	switch {
	case r.Source != SourceScore:
		return GivenMark + string(rune(r.Source)) + GivenMark + r.Group
	case IsPost(r.ID):
		return GivenMark + r.ID
	}
	return ""
}

// GivenBy lists the sources that may have given the item out and have a key for it.
func (r Ref) GivenBy() []Source {
	if IsPost(r.ID) {
		return append(GivenSources[:len(GivenSources):len(GivenSources)], SourceScore)
	}
	return GivenSources[:]
}

// GivenKeys are the keys of what gave refs out.
func GivenKeys(refs []Ref) (keys []string) {
	for _, r := range refs {
		if key := r.GivenKey(); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// ClaimKeys are all keys that handing out refs makes pending: [Keys] and [GivenKeys].
func ClaimKeys(refs []Ref) []string { return append(Keys(refs), GivenKeys(refs)...) }
