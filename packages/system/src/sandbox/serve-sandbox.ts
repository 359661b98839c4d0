import { join } from "node:path";
import type { WorkspaceSandbox, WorkspaceSandboxRequest } from "@tau-agent/rpc-protocol/workspace";
import { ownListeners } from "./bubblewrap/own-listeners.ts";
import { openRelayDoor } from "./network/relay-door.ts";
import type { SandboxPlaces } from "./paths/sandbox-paths.ts";
import { noSandbox } from "./policy/sandbox-settings.ts";
import { checkSandbox, type SandboxCheck } from "./sandbox-check.ts";
import { SessionSandbox } from "./session-sandbox.ts";

/** The machine that runs the commands of a remote session. */
export interface ServingPlace {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  /** The session's current working folder. */
  readonly cwd: () => string;
}

/** A sandbox on this machine for a session whose host is elsewhere, and the facts that the host gets about it. */
export interface ServedSandbox extends Omit<WorkspaceSandbox, "close"> {
  readonly sandbox: SessionSandbox;
}

/** Opens the sandbox that a remote host asks for, even if this machine does not support one. */
export async function serveSandbox(
  request: WorkspaceSandboxRequest,
  place: ServingPlace,
): Promise<ServedSandbox> {
  const { mode, write, denyRead, whenUnavailable, network, variables, certificate } = request;
  const { environment } = place;
  const check = relayed(await checkSandbox(environment), network);
  // The remote host checks names: every connection goes there.
  const known = network === "host" ? [] : network;
  const sandbox = new SessionSandbox({
    policy: { ...noSandbox, mode, write, denyRead, whenUnavailable, network: known },
    places: placesOf(place),
    check,
    ownListeners: () => ({ ...ownListeners(), ports: [] }),
    secrets: variables && { variables },
    hidden: request.hidden ?? [],
    openDoor: (folder) =>
      openRelayDoor(folder, { onConnection: request.onConnection, certificate }),
  });
  const { available, mechanism, reason, remedy } = check;
  return { sandbox, available, mechanism, reason, remedy, denied: sandbox.closed };
}

/** Closes the keys and notes of this machine's hosts, and the data that remote hosts keep here. */
function placesOf(place: ServingPlace): SandboxPlaces {
  const { homeDirectory, environment } = place;
  const agentDirectory = environment.PI_CODING_AGENT_DIR || join(homeDirectory, ".pi", "agent");
  const kept = join(homeDirectory, ".cache", "tau");
  const keyFiles = ["rewind", "calls"].map((name) => join(kept, name));
  return { ...place, agentDirectory, keyFiles, shown: [kept] };
}

/** Seatbelt shares the machine's network, so every program could reach the proxy. */
function relayed(check: SandboxCheck, network: WorkspaceSandboxRequest["network"]): SandboxCheck {
  if (check.mechanism !== "seatbelt" || network !== "host") return check;
  return {
    ...check,
    available: false,
    reason: "on macOS its network cannot be led through a host elsewhere",
    remedy: 'Set sandbox.network to "off" or "all", and use no secrets there.',
  };
}
