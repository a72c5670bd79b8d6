#!/usr/bin/env bash
# Starts the sandbox and a daemon that go on after this script, and adds to $GITHUB_ENV what a test suite needs to talk to them.
set -euo pipefail

folder="$RUNNER_TEMP/crossbill"
package="$folder/node_modules/crossbill"
port="${CROSSBILL_PORT:-3000}"
mkdir -p "$folder"
[ -e "$package" ] || npm install --silent --no-save --prefix "$folder" "crossbill@$CROSSBILL_VERSION"

# Waits up to a minute until its arguments succeed; then says what the program wrote.
wait_for() {
  local what=$1 log=$2
  shift 2
  for _ in $(seq 240); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.25
  done
  echo "$what did not start:" >&2
  cat "$log" >&2
  exit 1
}

endpoints="http://127.0.0.1:$port/webhooks"
SANDBOX_STRIPE_WEBHOOK_URL="$endpoints/stripe" SANDBOX_PAYMENT_WEBHOOK_URL="$endpoints/mor/payments" \
  SANDBOX_EVENT_WEBHOOK_URL="$endpoints/mor/events" \
  nohup node "$folder/node_modules/@crossbill/sandbox/dist/main.js" >"$folder/sandbox.log" 2>&1 </dev/null &
echo $! >"$folder/sandbox.pid"
wait_for 'the sandbox' "$folder/sandbox.log" grep -q '^# control routes' "$folder/sandbox.log"
grep -E '^[A-Z_]+=' "$folder/sandbox.log" >"$folder/sandbox.env"

set -a
. "$folder/sandbox.env"
set +a
(
  cd "$folder"
  PORT="$port" CROSSBILL_DATA_DIR="$folder/data" LOG_LEVEL=warn \
    exec nohup node "$package/dist/main.js" >"$folder/daemon.log" 2>&1 </dev/null
) &
echo $! >"$folder/daemon.pid"
wait_for 'the daemon' "$folder/daemon.log" curl -sf "http://127.0.0.1:$port/readyz"

{
  cat "$folder/sandbox.env"
  echo "CROSSBILL_URL=http://127.0.0.1:$port"
  echo "CROSSBILL_API_KEY=$(tr , '\n' <<<"$API_KEYS" | grep ':ops:' | cut -d: -f3)"
} >>"$GITHUB_ENV"
echo "Crossbill listens on http://127.0.0.1:$port, Stripe on ${STRIPE_API_BASE}, the MoR on ${MOR_BASE_URL}."
