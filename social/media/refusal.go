package media

// Refusal is the error of a store that answers, and refuses.
type Refusal struct {
	Advice string // why, and what an operator can do; it has no addresses and no credentials
	Err    error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Advice + ": " + r.Err.Error() }

// Unwrap returns the store's own error.
func (r *Refusal) Unwrap() error { return r.Err }
