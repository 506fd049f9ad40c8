package esindex

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// Disk is the disk of a data node.
type Disk struct {
	Node  string
	Free  int64  // bytes
	Mark  string // the highest watermark it exceeds: flood_stage, high, low; "" means none
	Limit string // the setting of that watermark
}

// allocation is a row of _cat/allocation; the row of unassigned shards has no sizes.
type allocation struct {
	Node  string `json:"node"`
	Free  int64  `json:"disk.avail,string"`
	Total int64  `json:"disk.total,string"`
}

// CheckDisks compares the free space of the data nodes with the watermarks. held is false if no
// watermark applies, because disk-based allocation is disabled.
func CheckDisks(ctx context.Context, client Client) (disks []Disk, held bool, err error) {
	var settings clusterSettings
	if err := Ask(ctx, client, http.MethodGet, "/_cluster/settings", "include_defaults=true&flat_settings=true", nil, &settings); err != nil {
		return nil, false, err
	}
	var rows []allocation
	if err := Ask(ctx, client, http.MethodGet, "/_cat/allocation", "format=json&bytes=b&h=node,disk.avail,disk.total", nil, &rows); err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		if row.Total == 0 {
			continue
		}
		d := Disk{Node: row.Node, Free: row.Free}
		d.Mark, d.Limit = row.passed(settings)
		disks = append(disks, d)
	}
	return disks, settings.disk("threshold_enabled") != "false", nil
}

// clusterSettings is the flat response of _cluster/settings.
type clusterSettings struct{ Defaults, Persistent, Transient map[string]any }

// disk returns a setting of disk-based allocation; transient settings take precedence.
func (s clusterSettings) disk(name string) string {
	for _, m := range []map[string]any{s.Transient, s.Persistent, s.Defaults} {
		if v, ok := m["cluster.routing.allocation.disk."+name].(string); ok {
			return v
		}
	}
	return ""
}

// passed returns the highest watermark that a disk exceeds, and its setting.
func (a allocation) passed(s clusterSettings) (mark, limit string) {
	for _, mark := range []string{"flood_stage", "high", "low"} {
		limit := s.disk("watermark." + mark)
		if a.Free < leastFree(limit, s.disk("watermark."+mark+".max_headroom"), a.Total) {
			return mark, limit
		}
	}
	return "", ""
}

// leastFree returns the number of bytes that a watermark requires to be free. The setting is the
// share that may be used ("85%", "0.85"), where headroom limits the free space required on large
// disks, or the free bytes themselves ("50gb"). An unreadable setting gives 0.
func leastFree(limit, headroom string, total int64) int64 {
	share, err := strconv.ParseFloat(strings.TrimSuffix(limit, "%"), 64)
	if err != nil {
		return byteSize(limit)
	}
	if strings.HasSuffix(limit, "%") {
		share /= 100
	}
	free := int64(float64(total) * (1 - share))
	most := byteSize(headroom)
	if most > 0 {
		free = min(free, most)
	}
	return free
}

// byteSize parses a size in Elasticsearch's format, or returns 0 if it is invalid.
func byteSize(text string) int64 {
	text = strings.ToLower(text)
	for i, unit := range []string{"pb", "tb", "gb", "mb", "kb", "b"} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return 0
			}
			return int64(n * float64(int64(1)<<(10*(5-i))))
		}
	}
	return 0
}
