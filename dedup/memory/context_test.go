package memory

import "context"

// cleanupContext returns a context that outlives the test, for its cleanups.
func cleanupContext() context.Context { return context.Background() }
