package testenv

import (
	"bufio"
	"compress/gzip"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Follows returns the follows of a real network between accounts with numbers less than below:
// follower and followee. FRESHET_TEST_FOLLOWS names the gzipped file, with one follow per line and
// a tab between the two. Without it the test is skipped.
func Follows(t testing.TB, below int) (list [][2]int) {
	t.Helper()
	path := os.Getenv("FRESHET_TEST_FOLLOWS")
	if path == "" {
		missing(t, "FRESHET_TEST_FOLLOWS", "a gzipped file of follows, follower and followee with a tab between them")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		a, b, _ := strings.Cut(scanner.Text(), "\t")
		follower, err1 := strconv.Atoi(a)
		followee, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s: bad line %q", path, scanner.Text())
		}
		if follower < below && followee < below {
			list = append(list, [2]int{follower, followee})
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return list
}
