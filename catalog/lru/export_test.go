package lru

// NewLimited is [New] with other limits.
var NewLimited = newCache
