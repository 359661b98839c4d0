#!/usr/bin/env bash
# Installs what tests use of the system, beside each its package. Does nothing for commands that are there; for those
# that cannot be installed, and where the machine forbids what they do, the test command names what it did not run.
set -euo pipefail

tools=(
  redis-server:redis-server # stores and workers
  bwrap:bubblewrap          # the sandbox
  ssh:openssh-client        # hosts and workspaces elsewhere
  sshd:openssh-server
  busybox:busybox-static # the only tools in a root of their own
  strace:strace          # what a host opens
)

# Servers are not on every PATH.
PATH=$PATH:/usr/sbin
missing=()
for tool in "${tools[@]}"; do command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}"); done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "Install ${missing[*]}; apt-get is not there to do it." >&2
  exit 0
fi
run() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
run apt-get update -qq
# No server of the system's is started: packages start none in this runlevel.
run env RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}"
