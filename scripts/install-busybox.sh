#!/usr/bin/env bash
# Installs the busybox that tests of workspaces have as only tools in a root of their own. Does nothing when it is
# there; where it cannot be installed, the test command names what it did not run.
set -euo pipefail

if command -v busybox >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "Install busybox, linked statically, so that the command is found; apt-get is not there to do it." >&2
  exit 0
fi
run() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
run apt-get update -qq
run apt-get install -y -qq --no-install-recommends busybox-static
