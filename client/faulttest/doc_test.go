// Package faulttest runs whole workflows through broken networks: every fault
// at every request, on real connections between a client and a local platform.
//
// However a request fails, the platform must end as it does without the fault;
// or the workflow must stop with an error that has a name, and running it once
// more must end there. The platform is compared as a whole: every document,
// every byte that was uploaded, every leftover.
//
//	go test ./client/faulttest -v                        each request with some faults
//	TRANSECT_FAULTS=all go test ./client/faulttest -v    each request with each fault
//	TRANSECT_FAULTS="502 after:*" go test ./client/faulttest -v -run Survey    that one at each request
//	TRANSECT_FAULTS="502 after:7" go test ./client/faulttest -v -run Survey    at one request
//
// With TRANSECT_FAULTS_RECORD=file the end of each case is noted in a file, and
// those that ended well by it are not run again.
package faulttest
