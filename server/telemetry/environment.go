package telemetry

import (
	"cmp"
	"os"
	"strings"
)

// The variables of the specification that the library leaves to programs.
const (
	disabled       = "OTEL_SDK_DISABLED"
	tracesExporter = "OTEL_TRACES_EXPORTER"
	protocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	ofTraces       = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" // in place of protocol
	propagator     = "OTEL_PROPAGATORS"
)

// off reports whether the environment switches traces off.
func off() bool {
	return strings.EqualFold(os.Getenv(disabled), "true") || os.Getenv(tracesExporter) == "none"
}

// request is a variable that asks for something that is not done.
type request struct{ name, value, instead string }

// inVain returns the variables that ask for another exporter, protocol or propagator than those in use.
func inVain() (all []request) {
	add := func(name, instead string, known ...string) {
		for value := range strings.SplitSeq(os.Getenv(name), ",") {
			value = strings.TrimSpace(value)
			fits := value == ""
			for _, k := range known {
				fits = fits || value == k
			}
			if !fits {
				all = append(all, request{name, value, instead})
			}
		}
	}
	add(tracesExporter, "spans are sent by OTLP", "otlp")
	named := protocol
	if os.Getenv(ofTraces) != "" {
		named = ofTraces
	}
	add(named, "spans are sent by OTLP over HTTP (http/protobuf), for which collectors have port 4318: name that in "+
		cmp.Or(used(), endpoint[1]), "http/protobuf")
	add(propagator, "the trace of a caller is taken from the header traceparent (tracecontext)", "tracecontext", "baggage")
	return all
}

// used returns the variable that names the collector.
func used() string {
	for _, name := range endpoint {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}
