import { ownListeners } from "./bubblewrap/own-listeners.ts";
import { openDoor } from "./network/open-door.ts";
import type { SandboxPlaces } from "./paths/sandbox-paths.ts";
import type { SandboxPolicy } from "./policy/sandbox-settings.ts";
import { checkSandbox, type SandboxCheck } from "./sandbox-check.ts";
import { SessionSandbox } from "./session-sandbox.ts";

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
): Promise<OpenedSandbox> {
  const check = await checkSandbox(places.environment);
  const domains = typeof policy.network === "string" ? ["*"] : policy.network;
  const isShared = check.mechanism === "seatbelt";
  const listeners = () => ownListeners(places.hostProcesses);
  const rules = { domains, closedPorts: () => listeners().ports };
  const sandbox = new SessionSandbox({
    policy,
    places,
    check,
    ownListeners: listeners,
    openDoor: (folder) => openDoor(isShared ? undefined : folder, rules),
  });
  return { sandbox, check };
}
