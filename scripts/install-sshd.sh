#!/usr/bin/env bash
# Installs the OpenSSH server that tests of hosts elsewhere start on a port of their own. Does nothing when it
# is there; where it cannot be installed, the test command names what it did not run.
set -euo pipefail

if [ -x /usr/sbin/sshd ] || command -v sshd >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "Install OpenSSH so that the command sshd is found; apt-get is not there to do it." >&2
  exit 0
fi
run() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
run apt-get update -qq
# No server of the system's is started: packages start none in this runlevel.
run env RUNLEVEL=1 apt-get install -y -qq --no-install-recommends openssh-server openssh-client
