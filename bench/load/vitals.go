package load

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
)

// vitals holds metrics of the server.
type vitals struct {
	memory     float64 // resident bytes
	goroutines float64
}

func (v vitals) max(o vitals) vitals {
	return vitals{memory: max(v.memory, o.memory), goroutines: max(v.goroutines, o.goroutines)}
}

// vitals reads /metrics; missing values are 0.
func (l *load) vitals(ctx context.Context) vitals {
	var v vitals
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, l.Server+"/metrics", nil)
	if err != nil {
		return v
	}
	res, err := l.http.Do(req)
	if err != nil {
		return v
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch n, _ := strconv.ParseFloat(value, 64); name {
		case "process_resident_memory_bytes":
			v.memory = n
		case "go_goroutines":
			v.goroutines = n
		}
	}
	return v
}
