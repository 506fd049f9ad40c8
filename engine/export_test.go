package engine

// InTurn tells how many refreshes of the agent's for-you run or wait.
func InTurn(e *Engine, agent string) int {
	e.turns.mu.Lock()
	defer e.turns.mu.Unlock()
	if tn := e.turns.of[turnOf{agent: agent}]; tn != nil {
		return tn.in
	}
	return 0
}
