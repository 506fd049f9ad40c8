package engine

// InTurn tells how many refreshes of the agent run or wait.
func InTurn(e *Engine, agent string) int {
	e.turns.mu.Lock()
	defer e.turns.mu.Unlock()
	if tn := e.turns.byAgent[agent]; tn != nil {
		return tn.in
	}
	return 0
}
