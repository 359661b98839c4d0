#!/usr/bin/env bash
# Installs the browser that the tests of the exported page run in. Does nothing when it is there; where
# it cannot be installed, those tests fail and say so, and all others still run.
set -euo pipefail

if command -v chromium >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "Install Chromium so that the command chromium is found; apt-get is not there to do it." >&2
  exit 0
fi
run() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
run apt-get update -qq
run apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
