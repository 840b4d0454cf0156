#!/usr/bin/env bash
# One night's run of a suite, its report and its verdict; for cron, a systemd
# timer or any CI. The exit code is that of cupel gate. It can be killed at any
# moment: started again, it resumes the night it was at. Start it in the
# folder of cupel.yaml. Needs bash 4.3 and flock. docs/ci.md explains it.
set -euo pipefail
shopt -s nullglob
set -m # every shard is a process group of its own, which a signal reaches whole

# Settings, from the environment.
: "${NIGHTLY_ARGS=--mode record --trials 3}" # what cupel run is given
: "${NIGHTLY_MAX_COST=5}"                    # USD for the whole night; empty for no cap
: "${NIGHTLY_SHARDS:=1}"                     # processes in parallel, each with its share of episodes and money; those that record take turns
: "${NIGHTLY_RETRIES:=3}"                    # how often episodes without a result are run again
: "${NIGHTLY_WAIT:=600}"                     # seconds before that
: "${NIGHTLY_GATE=}"                         # what cupel gate is given, such as --candidate gpt
: "${NIGHTLY_BASELINE=}"                     # a run to compare with: its folder (several: with commas), or "last" for the last night that was accepted
: "${NIGHTLY_DIR:=nightly}"                  # where the nights are kept
: "${NIGHTLY_KEEP:=14}"                      # how many of them
: "${NIGHTLY_KEYS=}"                         # a file of NAME=value lines with the providers' keys, mode 600
: "${CUPEL:=cupel}"

log() { printf '%s nightly: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*"; }

# run_of FOLDER prints the run folder in it, if there is one.
run_of() {
	local manifest
	for manifest in "$1"/*/run.json; do
		printf '%s\n' "${manifest%/run.json}"
		return
	done
}

complete() { grep -q '^  "status": "complete"' "$1/run.json"; }

# capped says whether the cap on spending left out episodes of a run.
capped() { [ -n "$1" ] && grep -Eq '"budget_stops": *[1-9]' "$1/run.json"; }

# shard NUMBER runs or resumes one shard until every episode has a result, as
# far as the retries go. 20 means that an older run cannot be resumed.
shard() {
	local dir=$night/shard-$1 args=() records= run code try
	stopping=
	trap 'stopping=1' TERM
	mkdir -p "$dir"
	# The canary compares with earlier nights: its history goes from night to night.
	[ ! -f "$NIGHTLY_DIR/canary.jsonl" ] || cp -n "$NIGHTLY_DIR/canary.jsonl" "$dir/"
	read -ra args <<<"$NIGHTLY_ARGS"
	[ "$shards" -eq 1 ] || args+=(--shard "$1/$shards")
	# One process at a time may write to a folder of cassettes.
	[[ "$NIGHTLY_ARGS ${CUPEL_MODE-}" != *record* ]] || records=1
	exec 8>"$NIGHTLY_DIR/turn"
	[ -z "$NIGHTLY_MAX_COST" ] ||
		args+=(--max-cost "$(LC_ALL=C awk -v usd="$NIGHTLY_MAX_COST" -v n="$shards" 'BEGIN { printf "%.4f", int(usd / n * 10000) / 10000 }')")
	for ((try = 0; ; try++)); do
		code=0
		[ -z "$records" ] || flock 8 || return 130
		run=$(run_of "$dir")
		if [ -z "$run" ]; then
			"$CUPEL" run "${args[@]}" --runs "$dir" || code=$?
		elif complete "$run"; then
			return 0
		else
			"$CUPEL" run --resume "$run" || code=$?
			[ "$code" -ne 2 ] || [ "$try" -gt 0 ] || return 20
		fi
		flock -u 8
		[ -z "$stopping" ] || return 130
		case $code in 0 | 2 | 3 | 130) return "$code" ;; esac
		if [ "$try" -ge "$NIGHTLY_RETRIES" ] || capped "$(run_of "$dir")"; then
			return "$code"
		fi
		log "exit code $code; again in $NIGHTLY_WAIT seconds"
		sleep "$NIGHTLY_WAIT" || true # a signal ends it
		[ -z "$stopping" ] || return 130
	done
}

# run_shards runs all shards of a night. Its code is 0 if there is something to
# judge, else the worst of theirs.
run_shards() {
	local i pid one code=0
	for ((i = 1; i <= shards; i++)); do
		shard "$i" >>"$night/shard-$i.log" 2>&1 &
		pids+=("$!")
	done
	for pid in "${pids[@]}"; do
		one=0
		wait "$pid" || one=$?
		while kill -0 "$pid" 2>/dev/null; do # a signal ended the wait
			one=0
			wait "$pid" || one=$?
		done
		log "process $pid of ${#pids[@]} ended with exit code $one"
		case $one in 2 | 3 | 20 | 130) [ "$one" -le "$code" ] || code=$one ;; esac
	done
	pids=()
	[ -z "$interrupted" ] || code=130
	return "$code"
}

# baseline prints the run to compare with. There is none on the first night.
baseline() {
	local nights i run=
	if [ "$NIGHTLY_BASELINE" != last ]; then
		printf '%s\n' "$NIGHTLY_BASELINE"
		return
	fi
	nights=("$NIGHTLY_DIR"/night-*)
	for ((i = ${#nights[@]} - 1; i >= 0; i--)); do
		if [ -e "${nights[i]}/exit" ] && [ "$(<"${nights[i]}/exit")" = 0 ]; then
			run=$(run_of "${nights[i]}/merged")
			[ -n "$run" ] || run=$(run_of "${nights[i]}/shard-1")
			printf '%s\n' "$run"
			return
		fi
	done
}

# judge merges the shards, writes the reports and prints the verdict, once: what merge
# prints of it is in merge.log.
judge() {
	local run base gate=()
	run=$(run_of "$night/shard-1")
	if [ "$shards" -gt 1 ]; then
		rm -rf "$night/merged" # of an earlier try
		"$CUPEL" merge "$night"/shard-*/*/ --runs "$night/merged" >"$night/merge.log" || return
		run=$(run_of "$night/merged")
	fi
	[ -n "$run" ] || return 1
	"$CUPEL" report "$run" -o "$night/junit.xml" -o "$night/report.md" || return
	read -ra gate <<<"$NIGHTLY_GATE"
	base=$(baseline)
	[ -z "$base" ] || gate+=(--baseline "$base")
	"$CUPEL" gate "$run" "${gate[@]}"
}

# carry_out carries out the night in $night, and notes that it is over.
carry_out() {
	local code=0
	read -r shards <"$night/shards"
	run_shards || code=$?
	[ ! -f "$night/shard-1/canary.jsonl" ] || cp "$night/shard-1/canary.jsonl" "$NIGHTLY_DIR/"
	if [ "$code" -eq 0 ]; then
		judge || code=$?
	else
		tail -n 5 "$night"/shard-*.log
	fi
	[ -z "$interrupted" ] || code=130
	[ "$code" -eq 130 ] || echo "$code" >"$night/exit"
	return "$code"
}

new_night() {
	night=$NIGHTLY_DIR/night-$(date -u +%Y%m%dT%H%M%SZ)
	if [ -e "$night" ]; then
		sleep 1
		new_night
		return
	fi
	mkdir "$night"
	echo "$NIGHTLY_SHARDS" >"$night/shards"
	log "begins $night"
}

for name in NIGHTLY_SHARDS NIGHTLY_RETRIES NIGHTLY_WAIT NIGHTLY_KEEP; do
	if ! [[ ${!name} =~ ^[0-9]+$ ]] || { [ "${!name}" -lt 1 ] && [[ $name =~ SHARDS|KEEP ]]; }; then
		log "$name=${!name}: must be a whole number" >&2
		exit 2
	fi
done
if [ -n "$NIGHTLY_KEYS" ]; then
	set -a
	# shellcheck disable=SC1090
	. "$NIGHTLY_KEYS"
	set +a
fi
mkdir -p "$NIGHTLY_DIR"
# The lock is held by the shards, too: they may outlive this script.
exec 9>"$NIGHTLY_DIR/lock"
if ! flock -n 9; then
	log "$NIGHTLY_DIR is in use by another nightly.sh, or by a run one left behind" >&2
	exit 1
fi

interrupted='' pids=() shards=0
trap 'interrupted=1; [ "${#pids[@]}" -eq 0 ] || kill -TERM -- "${pids[@]/#/-}" 2>/dev/null || true' INT TERM HUP

nights=("$NIGHTLY_DIR"/night-*)
code=20 # nothing to resume
if [ "${#nights[@]}" -gt 0 ]; then
	night=${nights[-1]}
	if [ -s "$night/shards" ] && [ ! -e "$night/exit" ]; then
		log "resumes $night"
		code=0
		carry_out || code=$?
		[ "$code" -ne 20 ] || log "$night cannot be resumed"
	fi
fi
if [ "$code" -eq 20 ]; then
	code=0
	new_night
	carry_out || code=$?
fi
nights=("$NIGHTLY_DIR"/night-*)
for ((i = 0; i < ${#nights[@]} - NIGHTLY_KEEP; i++)); do
	rm -rf -- "${nights[i]}"
done
log "$night: exit code $code"
exit "$code"
