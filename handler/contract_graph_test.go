package handler_test

func graphCases(func(...string) []exchange) map[string]contractRoute {
	const events = `{"type":"follow.created","data":{"agent_id":"u_7","author_id":"u_8","at":1772791200}}` + "\n" + `{"type":"follow.created","data":{}}` + "\n"
	return map[string]contractRoute{
		"POST /v1/graph/events": {
			good: []exchange{
				{headers: []string{asAdmin}, kind: "application/x-ndjson", body: events},
				{headers: []string{bearer}, kind: "application/x-ndjson", body: `{"type":"post.deleted","data":{"id":"post:old","at":"2026-03-06T10:00:00Z"}}`},
			},
			bad: map[int]exchange{40001: {headers: []string{asAdmin, "Content-Encoding: br"}, body: events}},
		},
	}
}
