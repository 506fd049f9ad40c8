package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// client speaks to the server.
type client struct {
	server, token string
	http          *http.Client
}

func newClient(s settings) *client {
	return &client{server: s.server, token: s.token, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 512},
		Timeout:   30 * time.Second,
	}}
}

// page is what a feed answers.
type page struct {
	Items []struct {
		ID string `json:"id"`
	} `json:"items"`
	Degraded []string `json:"degraded"`
}

func (c *client) feed(ctx context.Context, agent, action string, limit int) (page, error) {
	body := fmt.Sprintf(`{"action":%q,"limit":%d}`, action, limit)
	if action == "silent" {
		body = fmt.Sprintf(`{"action":"refresh","silent":true,"limit":%d}`, limit)
	}
	var p page
	return p, c.post(ctx, "/v1/feed", agent, body, &p)
}

func (c *client) ingest(ctx context.Context, item string) error {
	var report struct{ Accepted int }
	if err := c.post(ctx, "/v1/items", "", item+"\n", &report); err != nil {
		return err
	}
	if report.Accepted != 1 {
		return fmt.Errorf("the item was rejected: %s", item)
	}
	return nil
}

func (c *client) post(ctx context.Context, path, agent, body string, data any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if agent != "" {
		req.Header.Set("X-Agent-ID", agent)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	envelope := struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data any    `json:"data"`
	}{Data: data}
	if err := json.Unmarshal(all, &envelope); err != nil {
		return fmt.Errorf("HTTP %d is not an answer of Freshet: %w", res.StatusCode, err)
	}
	if envelope.Code != 0 {
		return fmt.Errorf("code %d: %s", envelope.Code, envelope.Msg)
	}
	return nil
}

// vitals are the server's, by its metrics.
type vitals struct {
	memory     float64 // bytes resident
	goroutines float64
}

func (v vitals) max(o vitals) vitals {
	return vitals{memory: max(v.memory, o.memory), goroutines: max(v.goroutines, o.goroutines)}
}

// vitals reads /metrics; what it does not tell is 0.
func (c *client) vitals(ctx context.Context) vitals {
	var v vitals
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, c.server+"/metrics", nil)
	if err != nil {
		return v
	}
	res, err := c.http.Do(req)
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
