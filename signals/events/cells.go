package events

import (
	"github.com/freshet/freshet/feed"
)

// Column is a count that is stored for each bucket of agents.
type Column uint8

// The columns.
const (
	Shown    Column = iota // impressions
	Clicked                // clicks
	Rejected               // dislikes and hides
	Pages                  // pages, of which those of a running experiment count
	Short                  // of these, those with fewer items than requested
	Millis                 // milliseconds that these took to answer
	Columns  = iota        // number of columns
)

// Counted holds all columns.
var Counted = []Column{Shown, Clicked, Rejected, Pages, Short, Millis}

// Cell names one count of one bucket. The zero value names none.
type Cell uint32

// CellOf returns the cell of an agent's bucket.
func CellOf(agent string, column Column) Cell { return cellAt(feed.Bucket(agent), column) }

func cellAt(bucket int, column Column) Cell { return 1 + Cell(column)*feed.Buckets + Cell(bucket) }

// Column returns the cell's column; the cell must name one.
func (c Cell) Column() Column { return Column((c - 1) / feed.Buckets) }

// Bucket returns the cell's bucket.
func (c Cell) Bucket() int { return int((c - 1) % feed.Buckets) }

// Cells holds counts by cell. Absent ones are 0.
type Cells map[Cell]int64

// At returns the count of a bucket.
func (c Cells) At(bucket int, column Column) int64 { return c[cellAt(bucket, column)] }

// Add adds to the count of a bucket.
func (c Cells) Add(bucket int, column Column, n int64) { c[cellAt(bucket, column)] += n }

// Merge adds all counts of others.
func (c Cells) Merge(others Cells) {
	for cell, n := range others {
		c[cell] += n
	}
}

// Of returns the counts of some buckets.
func (c Cells) Of(buckets []int) Cells {
	of := make(Cells, len(buckets))
	for _, b := range buckets {
		for column := range Column(Columns) {
			n := c.At(b, column)
			if n != 0 {
				of.Add(b, column, n)
			}
		}
	}
	return of
}

// DayCells holds the counts of a run of a variant on a day.
type DayCells struct {
	Run   string
	Day   feed.Day
	Cells Cells
}
