import { checkSandbox } from "../sandbox-check.ts";

const { available, reason } = await checkSandbox({ PATH: process.env.PATH });

/** Whether this machine can run a sandbox. */
export const hasBubblewrap = available;

/** Why it cannot, for the titles of what was not tested. */
export const bubblewrapIsMissing = `${reason}; scripts/install-bubblewrap.sh installs it where apt-get can`;
