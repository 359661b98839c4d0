import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { Sandbox } from "../processes/sandbox.ts";
import { ownListeners } from "./bubblewrap/own-listeners.ts";
import { openDoor } from "./network/open-door.ts";
import { type SecretSources, SessionSecrets } from "./network/session-secrets.ts";
import type { SandboxPlaces } from "./paths/sandbox-paths.ts";
import type { SandboxPolicy } from "./policy/sandbox-settings.ts";
import { sourceVariables } from "./policy/secret-settings.ts";
import { checkSandbox, type SandboxCheck } from "./sandbox-check.ts";
import { SessionSandbox } from "./session-sandbox.ts";

export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  /** The same sandbox, if it is on this machine. */
  readonly here?: SessionSandbox | undefined;
  readonly check: SandboxCheck;
  /** Undefined without secrets. */
  readonly secrets?: SessionSecrets | undefined;
}

/** The sandbox of a session, if it has one. Without a policy the session never involved a sandbox. */
export interface SandboxParts extends Partial<OpenedSandbox> {
  readonly policy?: SandboxPolicy;
  /** The session's workspace with all calls confined, if it is on another machine. */
  readonly workspace?: Workspace;
}

/** Opens the sandbox of a session; an unavailable one refuses commands with the reason. */
export async function openSandbox(
  policy: SandboxPolicy,
  places: SandboxPlaces,
  sources: SecretSources,
): Promise<OpenedSandbox & { readonly sandbox: SessionSandbox }> {
  const check = await checkSandbox(places.environment);
  const { network } = policy;
  const domains = network === "all" ? ["*"] : network === "off" ? [] : network;
  const isShared = check.mechanism === "seatbelt";
  const listeners = () => ownListeners(places.hostProcesses);
  const closedPorts = () => listeners().ports;
  const secrets =
    policy.secrets.length > 0 ? new SessionSecrets(policy.secrets, sources) : undefined;
  const sandbox = new SessionSandbox({
    policy,
    places,
    check,
    ownListeners: listeners,
    secrets,
    hidden: sourceVariables(policy.secrets),
    openDoor: async (folder) => {
      const way = { folder, isShared };
      if (secrets === undefined) return openDoor(way, { domains, closedPorts });
      // Most sandboxes have no secrets, and load no code for them.
      const { openSecretDoor } = await import("./network/secret-door.ts");
      return openSecretDoor(way, { secrets, domains, closedPorts, policy, places });
    },
  });
  return { sandbox, here: sandbox, check, secrets };
}
