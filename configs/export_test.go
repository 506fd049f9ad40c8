package configs

// Parse applies one YAML document to the defaults and validates the result; errors refer to it as
// name.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	return c.finish(applyFile(&c, name, data))
}
