//go:build !linux

package cmd

func testsInMemory() {}
