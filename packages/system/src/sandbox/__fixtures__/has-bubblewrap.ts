import { checkSandbox } from "../sandbox-check.ts";

const { available, reason } = await checkSandbox({ PATH: process.env.PATH });

/** Why this machine cannot run a sandbox; undefined if it can. */
export const bubblewrapIsMissing = available
  ? undefined
  : `${reason}; scripts/install-system-tools.sh installs it where apt-get can`;
