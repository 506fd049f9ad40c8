package configs

// Parse applies one YAML document to the defaults and validates the result; errors refer to it as
// name.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	return c.finish(applyFile(&c, name, data))
}

// FileSettings are the settings that name a file.
var FileSettings = fileSettings

// KindOf returns the name of the type of a setting.
func KindOf(key string) string { return byKey[key].kind.name }
