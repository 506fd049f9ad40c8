package configs

// Parse reads one YAML document over the defaults and validates the result;
// errors call it name.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	return c.finish(applyFile(&c, name, data))
}
