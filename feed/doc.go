// Package feed holds the core types of Freshet: items, profiles, queries, candidates, the time
// decay and the dedup window. It does no I/O, and every other package may import it.
package feed
