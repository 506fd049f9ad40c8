package configs

// removed lists the keys of earlier versions with what became of each. A
// configuration that still names one is refused, since what it asks for would
// not be done.
var removed = map[string]string{
	"recall.max_rounds": "is gone, delete it: a refresh goes on until its page is full, recall has no more, " +
		"or a tenth of server.request_timeout has passed",
}

// Removed says what became of a key of an earlier version; the text follows the
// key in a sentence. ok is false for every other key.
func Removed(key string) (what string, ok bool) {
	what, ok = removed[key]
	return what, ok
}

// removedVariable is [Removed] for an environment variable.
func removedVariable(name string) (what string, ok bool) {
	for key, what := range removed {
		if EnvName(key) == name {
			return what, true
		}
	}
	return "", false
}
