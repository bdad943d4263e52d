# netrec: see README.md. Everything here is also a plain go command; the Makefile
# only remembers the flags.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
GO      ?= go
export CGO_ENABLED = 0

.PHONY: build test unit lint generate kernels kernel service incidents fuzz bench cost speed kill faults soak sample man dist clean

build: ## the static binary, ./netrec
	$(GO) build -trimpath -buildvcs=auto -ldflags "-s -w -X main.version=$(VERSION)" -o netrec ./cmd/netrec

test: ## everything, as CI runs it; installs what it needs where it may
	./testdata/ci/test.sh

unit: ## the tests that need no kernel of their own
	$(GO) vet ./... && $(GO) test ./...

lint: ## vet's friends, and the import arrows of ARCHITECTURE.md
	./testdata/ci/lint.sh

generate: ## C header and BPF object from schema and bpf/*.bpf.c; needs clang, llvm and libbpf-dev
	$(GO) generate ./bpf

kernel: ## one kernel, for daily work: make kernel K=6.12
	$(GO) test -count=1 -v -timeout 150m -run '^TestKernels$$' ./internal/bench/truth -kernels $(or $(K),6.1)

kernels: ## all kernels
	$(GO) test -count=1 -v -timeout 150m -run '^TestKernels$$' ./internal/bench/truth -kernels all

service: ## docs/service.md followed on a Debian with systemd, in QEMU: install, start, change, remove
	$(GO) test -count=1 -v -timeout 150m ./cmd/packaging -kernel $(or $(K),6.12)

incidents: ## staged incidents and healthy loads, and what findings say about each: seven minutes; K=6.12 in a guest, 45
	$(GO) test -count=1 -v -timeout 150m ./internal/bench/incidents -incidents all $(if $(K),-kernels $(K))

fuzz: ## every fuzz target for a while, with the number of executions: make fuzz T=10m
	./testdata/ci/fuzz.sh $(or $(T),1m)

bench: ## decode, encode, commit, scan and every fold
	$(GO) test -run '^$$' -bench . -benchtime 0.5s ./record/... ./analyze/...

cost: build ## what busy servers keep, ns per event, CPU, bytes and the highest lossless rate on this machine, beside perf
	./testdata/cost/cost.sh

speed: build ## time and memory of every analysis on ten million events, beside DuckDB; NETREC_PYTHON must have it
	./testdata/speed/speed.sh

kill: build ## 200 kills at random times, and a full disk
	./testdata/kill/kill.sh 200

faults: ## an error at every system call of a recording, and a kill at every step of a commit: about two hours
	$(GO) test ./internal/bench/killtest -count=1 -timeout=5h -v -lose=1s -run='^Test(Faults|KillSteps)$$' -points=0

soak: ## record for long under load; memory, descriptors, rows against the probes' counters: make soak T=1h
	./testdata/soak/soak.sh $(or $(T),1h)

sample: build ## renew the recording that is embedded in the binary
	rm -f cmd/netrec/sample.parquet
	./netrec demo -o cmd/netrec/sample.parquet > /dev/null # best on a kernel with all hooks: see internal/bench/vmtest/cmd/vmrun

man: build ## the manual pages, into dist/man
	mkdir -p dist/man && ./netrec man dist/man

dist: ## what is released: binaries for amd64 and arm64, deb, rpm, bills of materials, sums
	./cmd/packaging/dist.sh dist

clean:
	rm -rf netrec dist
