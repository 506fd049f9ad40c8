package faultproxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var errFrame = errors.New("not a frame of the Redis protocol")

// protocol parses the messages of one connection.
type protocol interface {
	// request reads the bytes that a client sends before it waits for an answer, and the command
	// that tests identify them by.
	request(r *bufio.Reader) (frame []byte, cmd Command, err error)
	// reply reads the answer to one request.
	reply(r *bufio.Reader) (frame []byte, err error)
}

// resp is the protocol of Redis.
type resp struct{}

func (resp) request(r *bufio.Reader) (frame []byte, cmd Command, err error) {
	if frame, err = readFrame(r); err == nil {
		cmd, err = parseCommand(frame)
	}
	return frame, cmd, err
}

func (resp) reply(r *bufio.Reader) ([]byte, error) { return readFrame(r) }

// pushed is the first byte of a frame that a server sends unsolicited.
const pushed = '>'

// readFrame reads one complete value of RESP2 or RESP3, in its encoded form.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var b bytes.Buffer
	if err := copyFrame(&b, r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func copyFrame(b *bytes.Buffer, r *bufio.Reader) error {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	b.Write(line)
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return fmt.Errorf("%w: %q", errFrame, line)
	}
	kind, rest := line[0], string(line[1:len(line)-2])
	switch kind {
	case '+', '-', ':', '_', '#', ',', '(':
		return nil
	case '$', '!', '=', '*', '~', pushed, '%', '|':
	default:
		return fmt.Errorf("%w: %q", errFrame, line)
	}
	n, err := strconv.Atoi(rest)
	if err != nil {
		return fmt.Errorf("%w: %q", errFrame, line)
	}
	if n < 0 { // a RESP2 nil
		return nil
	}
	switch kind {
	case '$', '!', '=':
		_, err := io.CopyN(b, r, int64(n)+2)
		return err
	case '%':
		n *= 2
	case '|': // attributes, then their value
		n = 2*n + 1
	}
	for range n {
		if err := copyFrame(b, r); err != nil {
			return err
		}
	}
	return nil
}

// parseCommand reads the words of a request, which is an array of strings.
func parseCommand(frame []byte) (Command, error) {
	r := bufio.NewReader(bytes.NewReader(frame))
	head, err := r.ReadString('\n')
	if err != nil || head[0] != '*' {
		return nil, fmt.Errorf("%w: a request begins with %q", errFrame, head)
	}
	n, err := strconv.Atoi(strings.TrimSpace(head[1:]))
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%w: a request of %q words", errFrame, head)
	}
	words := make(Command, n)
	for i := range words {
		word, err := readFrame(r)
		if err != nil || word[0] != '$' {
			return nil, fmt.Errorf("%w: a request with the word %q", errFrame, word)
		}
		_, text, _ := bytes.Cut(word, []byte("\r\n"))
		words[i] = strings.TrimSuffix(string(text), "\r\n")
	}
	return words, nil
}
