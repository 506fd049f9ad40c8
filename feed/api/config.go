package api

// When a changed setting takes effect: the values of [ConfigChange.Effect].
const (
	AtReload  = "reload"  // at once when the server reloads its configuration
	AtRestart = "restart" // when the server starts again
)

// ConfigChange is a setting whose value in force differs from the one in the server's file and
// environment.
type ConfigChange struct {
	Key string `json:"key"` // such as server.rate_limit
	// InForce and Loaded are the two values as text; secrets are replaced by ******.
	InForce string `json:"in_force"`
	Loaded  string `json:"loaded"`
	Effect  string `json:"effect"` // when Loaded takes effect: AtReload or AtRestart
	// Unset means that nothing sets the setting any more: Loaded is its default.
	Unset bool `json:"unset,omitempty"`
}

// ConfigChanges lists the settings that differ.
type ConfigChanges struct {
	Changes []ConfigChange `json:"changes"` // in the order of the shipped file
}
