#!/usr/bin/env bash
# Installs the redis-server that tests of stores and workers run. Does nothing when it is there; where it
# cannot be installed, the test command names what it did not run.
set -euo pipefail

if command -v redis-server >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "Install Redis so that the command redis-server is found; apt-get is not there to do it." >&2
  exit 0
fi
run() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
run apt-get update -qq
run apt-get install -y -qq --no-install-recommends redis-server
