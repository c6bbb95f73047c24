// Ids from libtxid by cgo, for programs with txid-agent on their host: go run ids.go [DIRECTORY [COUNT]]
package main

// #cgo pkg-config: txid
// #include <txid.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// checked gives the call a buffer for its message. A negative result is an error.
func checked(call func(message *C.char) C.int64_t) (int64, error) {
	var message [C.TXID_MESSAGE_LEN]C.char
	result := int64(call(&message[0]))
	if result < 0 {
		return 0, errors.New(C.GoString(&message[0]))
	}
	return result, nil
}

func txid() string {
	var text [C.TXID_LEN]C.char
	C.txid_fill_now(&text[0], C.txid_clock_ms())
	return C.GoStringN(&text[0], C.TXID_LEN)
}

func openSnowflakes(layout, path string) (handle *C.txid_snowflake, err error) {
	// These are never freed: a program opens it once.
	layoutText, pathText := C.CString(layout), C.CString(path)
	_, err = checked(func(message *C.char) C.int64_t {
		return C.int64_t(C.txid_snowflake_open(layoutText, C.size_t(len(layout)), C.TXID_NODE_LEASED,
			pathText, C.size_t(len(path)), 10000, &handle, message))
	})
	return
}

func nextSnowflake(handle *C.txid_snowflake) (int64, error) {
	return checked(func(message *C.char) C.int64_t {
		return C.txid_snowflake_next(handle, C.txid_clock_coarse_ms(), message)
	})
}

func openSegment(path string) (handle *C.txid_segment, err error) {
	_, err = checked(func(message *C.char) C.int64_t {
		return C.int64_t(C.txid_segment_open(C.CString(path), C.size_t(len(path)), &handle, message))
	})
	return
}

func nextOfSegment(handle *C.txid_segment) (int64, error) {
	return checked(func(message *C.char) C.int64_t { return C.txid_segment_next(handle, message) })
}

func must[T any](it T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "ids.go:", err)
		os.Exit(1)
	}
	return it
}

func main() {
	args := append(os.Args[1:], []string{"/run/txid", "1"}[len(os.Args)-1:]...)
	orders := must(openSnowflakes("snowflake", args[0]+"/orders"))
	invoices := must(openSegment(args[0] + "/invoices.segment"))
	for count := must(strconv.Atoi(args[1])); count > 0; count-- {
		fmt.Println(txid(), must(nextSnowflake(orders)), must(nextOfSegment(invoices)))
	}
}
