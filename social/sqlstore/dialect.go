package sqlstore

// Dialect is what a database has of its own, beside its [Database].
type Dialect struct {
	Name   string            // begins what errors say
	Reason func(error) error // says how to correct an error of the database, where an operator can
	// Damaged reports whether the database has answered that a value is impossible:
	// the same statement fails again.
	Damaged func(error) bool
	// OneWriter says that transactions that write take turns, so that nothing is locked.
	OneWriter bool

	// Lease leases due jobs. It takes now, the kinds, the period after which a job is
	// overdue, the number, the period of the lease, who leases, how many of the number may
	// be chosen because they are overdue. Or it is empty, and Choose reads the ids: of those
	// that are overdue, which takes the first three and how many; and of all but those that
	// are chosen already, which takes a table of these in the place of the third. Then Alone
	// runs all of what it is given in a transaction.
	Lease  string
	Choose [2]string
	// Done ends jobs, as what [Held] makes does, and removes those of the kinds $4.
	Done string
	// Remove removes the job $1 of the lease $2, if it was not marked meanwhile. It is
	// empty where Done removes as well, and where Alone is not all in a transaction.
	Remove string
}
