import { openDoor } from "./network/open-door.ts";
import type { SandboxPlaces } from "./paths/sandbox-paths.ts";
import type { SandboxPolicy } from "./policy/sandbox-settings.ts";
import { checkSandbox, type SandboxCheck } from "./sandbox-check.ts";
import { SessionSandbox } from "./session-sandbox.ts";

/** A sandbox and what was found out about it. */
export interface OpenedSandbox {
  readonly sandbox: SessionSandbox;
  readonly check: SandboxCheck;
}

/** The sandbox of a session, if it has one; without a policy it never had anything to do with one. */
export interface SandboxParts extends Partial<OpenedSandbox> {
  readonly policy?: SandboxPolicy;
}

/** Opens the sandbox of a session; one that is not available refuses commands with its reason. */
export async function openSandbox(
  policy: SandboxPolicy,
  places: SandboxPlaces,
  closedPorts: () => readonly number[] = () => [],
): Promise<OpenedSandbox> {
  const check = await checkSandbox(places.environment);
  const { network } = policy;
  const domains = domainsOf(network, closedPorts());
  const isShared = check.mechanism === "seatbelt";
  const door =
    domains === undefined
      ? undefined
      : (folder: string) => openDoor(isShared ? undefined : folder, { domains, closedPorts });
  return { sandbox: new SessionSandbox({ policy, places, check, openDoor: door }), check };
}

/** All of the network goes through the proxy, too, where this host has ports that must stay closed. */
function domainsOf(
  network: SandboxPolicy["network"],
  closedPorts: readonly number[],
): readonly string[] | undefined {
  if (network === "off") return undefined;
  if (network === "all") return closedPorts.length === 0 ? undefined : ["*"];
  return network;
}
