package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

func cpuNs() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func TestCost(*testing.T) {
	const count = 1000000
	directory := os.Getenv("DIRECTORY")
	orders := must(openSnowflakes("snowflake", directory+"/orders"))
	invoices := must(openSegment(directory + "/invoices.segment"))
	kinds := []struct {
		name string
		run  func()
	}{
		{"txid", func() { txid() }},
		{"snowflake", func() { must(nextSnowflake(orders)) }},
		{"segment", func() { must(nextOfSegment(invoices)) }},
	}
	for _, kind := range kinds {
		start := cpuNs()
		for i := 0; i < count; i++ {
			kind.run()
		}
		fmt.Println("go", kind.name, float64(cpuNs()-start)/count)
	}
}
