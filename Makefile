# CI runs `make test` with CUPEL_SLOW=1, `make check`, `make docs` and `make kubernetes`; the other
# targets are for people.
GO      ?= go
export CGO_ENABLED ?= 0
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LINT    := bin/golangci-lint

.PHONY: run test slow docs check size cross deadcode outdated vuln long kill fleet evidence night s3 kubernetes mutants bench bench-scale scale build lint fuzz duckdb clients external clean

run: ## run the built-in suite from its cassettes and print the verdict
	$(GO) run ./cmd/cupel run

# Tests collect garbage as cupel does: a fifth of their processor time is less. They sample no
# allocations, which go test prepares for profiles, as cupel does not, either. Their
# folders, with thousands of small synced files, are in memory where there is room.
MEMORY   := $(shell df -Pk /dev/shm 2>/dev/null | awk 'END {exit $$4 < 2000000}' && ! grep -q ' /dev/shm .*noexec' /proc/mounts && echo TMPDIR=/dev/shm GOTMPDIR=$${TMPDIR:-/tmp})
TESTS    := GOGC=400 GODEBUG=memprofilerate=0 $(MEMORY) $(GO) test
# Packages tested at a time: two more than processors, since the tests of some wait. The
# two that take longest come first.
PACKAGES = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)
test: ## tests: about 3 minutes on two cores; what takes longer is a sample, see slow and long
	$(TESTS) -vet=off -p $(PACKAGES) -ldflags='-s -w' ./cmd ./harness ./... # without what make check does, and symbols, which take a third of linking

# The tests, and their packages, that call testkit.Slow or testkit.SlowN.
SLOW  = $(shell git grep -l 'testkit\.Slow' '*_test.go')
NAMES = $(shell awk '/^func Test/ {name = substr($$2, 1, length($$2) - 2)} /testkit\.Slow/ {print name}' $(SLOW) | sort -u | paste -sd '|')
slow: ## what make test takes a sample of: pages in a browser, kills, proofs of suites, custom programs: about 5 minutes
	CUPEL_SLOW=1 $(TESTS) -count=1 -ldflags='-s -w' -run '^($(NAMES))$$' $(sort $(addprefix ./,$(dir $(SLOW))))

docs: ## execute every command that README.md and docs show: about 1.5 minutes
	CUPEL_DOCS=1 $(GO) test -count=1 -v -parallel 6 -run 'TestCommands|TestWrongPages' ./docs

build: bin/cupel ## one static binary in bin/

bin/cupel: FORCE
	$(GO) build -trimpath -ldflags '-s -w' -o $@ ./cmd/cupel

# At most 3% more than 56,176,802 bytes, which commit 4670e348 had on linux/amd64: the last one before
# fleets, stores, batches and packs, whose large parts only cupel-fleet links.
MOST_BYTES := 57862106
size: build ## fail if the program became too large, on linux/amd64
	@n=$$(wc -c < bin/cupel); test "$$($(GO) env GOOS GOARCH | paste -sd/)" != linux/amd64 || test $$n -le $(MOST_BYTES) || { echo "size: bin/cupel has $$n bytes, more than $(MOST_BYTES): link less, or say in review why the bound must rise"; exit 1; }

# The packages that start goroutines, serve requests or share state. The others have no race to
# detect, nor have the others that filter-out names, which take long.
RACES = $(filter-out ././ $(patsubst %,./%/,cmd/cupel docs reports/plot reports/stat reports/trend reports/internal/evidence reports/internal/night),$(sort $(addprefix ./,$(dir $(shell \
  git grep -lE '^\s*go [a-z]|"sync|"net/http|errgroup|harness\.Run' -- '*.go' ':!examples' ':!*/testdata/*')))))
check: ## everything CI holds: vet, formatting, linter, unreachable code, race tests, tidy
	$(GO) vet ./...
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go'); exit 1; }
	$(MAKE) lint
	$(MAKE) deadcode
	CGO_ENABLED=1 $(TESTS) -race -short -vet=off $(RACES) # the long tests run without it, in make test
	$(GO) mod tidy -diff
	$(MAKE) cross
	$(MAKE) size

cross: bin/deadcode ## check types for macOS and Windows, which start and end commands differently
	@for os in darwin windows; do GOOS=$$os CGO_ENABLED=0 bin/deadcode ./... > /dev/null || exit 1; done # with all dependencies, in a fifth of the time of a build

lint: $(LINT) ## the pinned linter
	$(LINT) run ./...

# What no path from the program reaches, tests apart: code that only its tests keep alive
# is dead, too. LIBRARY is what only programs that import cupel call: go test, ledgers read
# and written in Go, reports of them, policies as text, caps that several runs of one
# process share; and wire.Decode, with which the
# tests of every wire decode.
LIBRARY := ^(agent/invisible/writer|harness/admission/shared/kv|harness/test|harness/ledger/(read|writer)|providers/policy/parse|providers/all/all|providers/sim/(sim|server)|reports/reports|reports/model/build|reports/text/compare_annotations)\.go:|func: Decode$$
deadcode: bin/deadcode ## fail on unreachable code
	@bin/deadcode ./cmd/... > bin/deadcode.txt && ! grep -vE '$(LIBRARY)' bin/deadcode.txt

# go list -m -u all fails: v2.3.0 of go-vcr declares another module path, and its
# retractions cannot be looked up. So the direct modules are asked for by name.
GOVCR := github.com/dnaeon/go-vcr/v2
outdated: ## the newest version of every direct module, as GOPROXY has them
	@$(GO) list -m -e -u -f '{{.Path}} {{.Version}}{{with .Update}} -> {{.Version}}{{end}}{{with .Error}} not known: {{.Err}}{{end}}' \
	  $$($(GO) list -m -f '{{if not (or .Indirect .Main (eq .Path "$(GOVCR)"))}}{{.Path}}{{end}}' all)
	@echo '$(GOVCR) not asked for: pinned, see docs/dependencies.md'

vuln: bin/govulncheck ## known vulnerabilities in what the program links, without a network: VULNDB=folder
	@test -f "$(VULNDB)/index/modules.json" || { echo 'vuln: set VULNDB to the absolute path of a folder with the Go vulnerability database, unpacked from https://vuln.go.dev/vulndb.zip'; exit 2; }
	bin/govulncheck -db 'file://$(VULNDB)' ./...

$(LINT): TOOL = github.com/golangci/golangci-lint/v2/cmd/golangci-lint
bin/deadcode: TOOL = golang.org/x/tools/cmd/deadcode
bin/govulncheck: TOOL = golang.org/x/vuln/cmd/govulncheck
$(LINT) bin/deadcode bin/govulncheck: tools.mod tools.sum
	$(GO) build -modfile=tools.mod -o $@ $(TOOL)

long: ## all tests, those over random kills, damages, faults and caps at full length: about 15 minutes
	CUPEL_LONG=1 $(MEMORY) $(GO) test -count=1 -timeout 30m ./...

kill: ## kill and resume recordings at 200 points: about 4 minutes
	CUPEL_SLOW=1 CUPEL_KILLS=200 $(MEMORY) $(GO) test -count=1 -timeout 30m -run TestKilledRecordingsPayNothingTwice -v ./cmd

fleet: ## kill, stop and resume the processes of a fleet at 100 points, hold its caps, measure its speed, and compare its time with a simulation: about 7 minutes
	CUPEL_FLEET=100 $(MEMORY) $(GO) test -count=1 -timeout 30m -run TestFleet -v ./cmd/cupel-fleet

evidence: ## measure the statistical promises of docs/evidence.md in simulation, and print the table
	CUPEL_EVIDENCE=1 $(GO) test -count=1 -timeout 120m -run Simulation -v ./reports/internal/evidence ./harness/canary ./reports/stat ./reports/compare ./reports/trend ./reports/model

night: ## simulate the night of docs/night.yaml and write the table of docs/scale.md: about 3 minutes
	CUPEL_EVIDENCE=1 $(GO) test -count=1 -timeout 60m -run TestNight -v ./reports/internal/night -update

s3: ## the contract of stores, and the verbs on runs in one, against versitygw, a real S3 server that is built first: about five minutes
	GOBIN=$(CURDIR)/bin $(GO) install github.com/versity/versitygw/cmd/versitygw@v1.8.0
	rm -rf bin/s3 && mkdir -p bin/s3/cupel
	ROOT_ACCESS_KEY=key ROOT_SECRET_KEY=secret bin/versitygw --port 127.0.0.1:7070 posix bin/s3 & pid=$$!; trap "kill $$pid" EXIT; sleep 2; \
	AWS_ENDPOINT_URL_S3=http://127.0.0.1:7070 AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret CUPEL_TEST_S3=s3://cupel CUPEL_SLOW=1 \
	$(GO) test -count=1 -run 'TestRealServer|TestRunsInS3' -v ./harness/store/s3store ./cmd/cupel-fleet

kubernetes: ## check the manifests of examples/kubernetes and execute their commands: about a minute
	cd examples/kubernetes && $(GO) test -count=1 ./...

mutants: ## which changes of behaviour the golden suites and the tests notice: up to 30 minutes
	$(GO) run ./harness/mutants

bench: ## every benchmark, with allocations
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-scale: ## the whole line of docs/performance.md, collecting garbage as cupel run does
	GOGC=400 GOMEMLIMIT=256MiB $(GO) test -run '^$$' -bench 'Scale|Floor|Live' -benchtime 10x ./harness
	$(GO) test -run '^$$' -bench 'Startup|Process' -benchtime 10x ./cmd

scale: ## runs of 100,000 episodes and with 10,000 requests in flight, the report of a million turns: in bounded memory and time
	CUPEL_SCALE=100000 $(GO) test -count=1 -run MemoryDoesNotGrow -v ./harness
	CUPEL_SCALE=200000 $(GO) test -count=1 -run ReportOfManyTurns -v ./reports
	CUPEL_SCALE=1 GOGC=400 GOMEMLIMIT=930MiB $(GO) test -count=1 -run ManyRequestsInFlight -v ./harness # the limit that cupel run sets there

fuzz: ## each fuzz target for ten seconds
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 10s $$pkg || exit 1; \
	  done; done

duckdb: ## read a run's ledger with DuckDB (needs node and npm)
	mkdir -p bin/duckdb && cp harness/ledger/testdata/duckdb/package.json bin/duckdb/
	cd bin/duckdb && npm install --no-audit --no-fund --silent
	CUPEL_DUCKDB_DIR=$(CURDIR)/bin/duckdb $(GO) test -count=1 -timeout 30m -run DuckDB -v ./harness/ledger ./reports/expr ./cmd

clients: ## ask cupel sim with the official npm clients of all wires (needs node 20 and npm)
	mkdir -p bin/clients && cp providers/sim/testdata/clients/package*.json bin/clients/
	cd bin/clients && npm ci --ignore-scripts --no-audit --no-fund --silent
	CUPEL_CLIENTS_DIR=$(CURDIR)/bin/clients $(GO) test -count=1 -timeout 15m -run Clients -v ./cmd

external: bin/cupel ## evaluate real agents, such as AI SDK, LangChain and n8n, with simulated models: about 20 minutes (needs node 20, npm and python3)
	sh examples/external/evaluate.sh

clean:
	rm -rf bin runs

FORCE:
