// Package feed holds the nouns of Freshet: items, profiles, queries,
// candidates, the time decay and the dedup window. It does no I/O, and every
// other package may import it.
package feed
