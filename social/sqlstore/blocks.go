package sqlstore

// blocked is the condition that one of two agents, each a column or a parameter, blocks the other.
// OFFSET 0 prevents PostgreSQL from turning it into a join of whole tables: two probes by the
// primary key cost the same for every pair.
func blocked(one, other string) string {
	return `(` + blocks(one, other) + ` OR ` + blocks(other, one) + `)`
}

// notBlocked restricts rows to those with no block between two agents, in either direction. Every
// list of agents, and of their posts, uses it before its limit, with the agent who reads the list;
// "" is no agent and has no blocks.
func notBlocked(one, other string) string {
	return ` AND NOT ` + blocks(one, other) + ` AND NOT ` + blocks(other, one)
}

func blocks(agent, other string) string {
	return `EXISTS (SELECT 1 FROM blocks b WHERE b.agent = ` + agent + ` AND b.other = ` + other + ` OFFSET 0)`
}
