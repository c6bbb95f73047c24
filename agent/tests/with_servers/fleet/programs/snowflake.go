// Makes snowflake ids with the worker in WORKER_ID until it is ended, and knows nothing of txid.
//
// snowflake DIRECTORY COUNT: appends them to DIRECTORY/WORKER-PID, as 8 bytes each, COUNT every 5 ms.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"
)

const epochMs = 1288834974657

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	worker, count := number(os.Getenv("WORKER_ID")), number(os.Args[2])
	file, err := os.Create(fmt.Sprintf("%s/%d-%d", os.Args[1], worker, os.Getpid()))
	if err != nil {
		log.Fatal(err)
	}
	batch := make([]byte, 8*count)
	for lastMs := int64(0); ; time.Sleep(5 * time.Millisecond) {
		ms := time.Now().UnixMilli() - epochMs
		if ms <= lastMs {
			continue
		}
		lastMs = ms
		for sequence := int64(0); sequence < count; sequence++ {
			binary.LittleEndian.PutUint64(batch[8*sequence:], uint64(ms<<22|worker<<12|sequence))
		}
		if _, err := file.Write(batch); err != nil {
			log.Fatal(err)
		}
	}
}
