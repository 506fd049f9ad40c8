package sqlstore

// Dialect is what a database has of its own: how its rows are locked, and the statements
// that it writes in another way than others. Arguments after a [Table] are counted as the
// dialect takes that.
type Dialect struct {
	Name   string            // begins what errors say
	Reason func(error) error // says how to correct an error of the database, where an operator can
	// Damaged reports whether the database has answered that a value is impossible:
	// the same statement fails again.
	Damaged func(error) bool

	// Locks end a statement that reads rows, to lock them: not at all; shared, so that only
	// an exclusive lock waits; by one at a time, beside shared locks; exclusive. All are
	// empty where transactions that write take turns.
	Locks [4]string
	// MakeAgents makes rows in authors for the agents $1 where there are none. It is
	// empty where no row is needed to lock an agent.
	MakeAgents string

	Records     string // the posts $1: [RecordColumns], and their circles
	SaveAuthor  string // a card: id, name, image, bio, time. The later holds, of one time the greater
	Follows     string // of a table of edges: agent, author, at, gone, whether one blocks the other
	SaveFollows string // a table: agent, author, at, gone
	SaveCounts  string // a table: author, followers, following
	SaveMembers string // of the circle $1 a table: agent, at, gone, incarnation, since
	EraseTime   string // later than $2 and all that the agent $1 has made
	Erase       string // blanks the agent $1 as of $2; what else they made up to $3; what is being erased, $4

	Purges    []string // remove what is over since $1, at most $2
	PurgeKeys string   // removes idempotency keys up to $1, at most $2
	OverPosts string   // locks posts that are over since $1, with all that stood under them, at most $2

	// Facts are the columns of a post p and its [Parties] from which [social.Decide] knows
	// who may see it, for the reader $1; see facts.
	Facts       string
	Cards       string // for the reader $1 a table of ids and known versions: see [Query.found]; of what is there
	CardsOf     string // the same of a table of readers and ids
	Tiles       string // for the reader $1 the posts $2: the same, with the first image, or null, as the content
	PostFacts   string // of a post p: the agents it mentions, and the circles it addresses, each behind its incarnation and a space; only for a [Memo]
	Standings   string // for the reader $1 the posts $2: facts, place, created at; of what is known
	Receivers   string // agents, and their rank in receiverReasons: of the post $1 of $2 those after $3, at most $4; the author if $5, followers if $6; it was created at $7
	Celebrities string // of the readers $1: reader and author, whom they follow and who is not pushed, or [social.Server], or [jobs.Everybody] where such a job waits or runs
	Sources     Sources

	// Now makes a number of a parameter for the queue's clock, in µs: NULL stands for the
	// database's own clock. What follows takes that parameter where it says "now". Periods
	// are in µs.
	Now func(parameter string) string

	Mark   string // a table of jobs j: kind, key, priority, period until it is due; now
	Due    string // whether a job may be due; now, kinds, all for none; empty: it is not worth asking
	Expire string // takes back leases that have run out; now, the attempts with which a job is dead
	// Lease leases due jobs. It takes now, the kinds, the period after which a job is
	// overdue, the number, the period of the lease, who leases, how many of the number may
	// be chosen because they are overdue. Or it is empty, and Choose reads the ids: of those
	// that are overdue, which takes the first three and how many; and of all but those that
	// are chosen already, which takes a table of these in the place of the third. Then Alone
	// runs all of what it is given in a transaction.
	Lease  string
	Choose [2]string

	CountJobs  string // kind, state, number
	OldestJobs string // the columns of [jobs.Ages]; now
	Sweep      string // removes jobs completed for a period; now, the period, the most

	// What ends leases, or extends them. Each takes a table of id and lease, then now, and
	// returns id and state of the jobs that are held.
	Renew    string // for a period
	Done     string // removes those of the kinds that follow
	Fail     string // whether it waits, for what period, the reason, the most attempts
	GiveBack string
	TakeBack string // the same of those that are leased by who follows and are not in the table
	// Remove removes the job $1 of the lease $2, if it was not marked meanwhile. It is
	// empty where Done removes as well, and where Alone is not all in a transaction.
	Remove string
}
