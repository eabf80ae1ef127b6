# The commands of every day. .ci/run runs all that a change must pass.
.PHONY: build test lint fmt generate

build:
	CGO_ENABLED=0 go build ./cmd/transect

test:
	go test ./...

lint:
	.ci/lint

fmt:
	gofmt -w .

# What is written from declarations and from the tables of tests.
generate:
	go generate ./runtime/reference
	TRANSECT_UPDATE=1 go test -vet=off ./cmd/transect -run TestSurvivingPage
	TRANSECT_UPDATE=1 go test -vet=off ./cmd/transect/hostile -run TestHostilePageIsFresh
	TRANSECT_UPDATE=1 go test -vet=off ./client/recovery -run TestFingerprints
