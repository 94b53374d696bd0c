// Package history writes operations as netloom history check reads them, one JSON object a line.
package history

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// History holds the operations of one process: one goroutine, one call at a time. Several may write to one file.
type History struct {
	file    *os.File
	process string
}

// Open appends to a file, or if its name is empty to $NETLOOM_HISTORY.
func Open(path, process string) (*History, error) {
	if path == "" {
		path = os.Getenv("NETLOOM_HISTORY")
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	return &History{file, process}, err
}

// Record appends an event: invoke, ok, fail (no effect, ever) or info (nobody knows).
func (h *History) Record(kind, f string, key, value any) error {
	event := map[string]any{"process": h.process, "type": kind, "f": f, "key": key, "value": value, "time": now()}
	line, err := json.Marshal(event)
	if err == nil {
		_, err = fmt.Fprintf(h.file, "%s\n", line)
	}
	return err
}

// now reads the clock that starts with the kernel, which the standard library does not show.
func now() int64 {
	var clock uintptr = 1 // CLOCK_MONOTONIC
	if os.Getenv("NETLOOM_HISTORY_CLOCK") == "realtime" {
		clock = 0
	}
	var time syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}
