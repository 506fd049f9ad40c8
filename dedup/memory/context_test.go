package memory

import "context"

// cleanupContext outlives the test it cleans up after.
func cleanupContext() context.Context { return context.Background() }
