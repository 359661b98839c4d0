import {
  type Workspace,
  type WorkspaceConnection,
  WorkspaceError,
} from "@tau-agent/rpc-protocol/workspace";
import { randomHex } from "../base/random.ts";
import { ownListeners } from "./bubblewrap/own-listeners.ts";
import { createSandboxElsewhere } from "./elsewhere/sandbox-elsewhere.ts";
import { sandboxedWorkspace } from "./elsewhere/sandboxed-workspace.ts";
import type { ProxyRules } from "./network/proxy.ts";
import { type SecretSources, SessionSecrets } from "./network/session-secrets.ts";
import { type OpenedSandbox, openSandbox } from "./open-sandbox.ts";
import type { SandboxPlaces } from "./paths/sandbox-paths.ts";
import type { SandboxPolicy } from "./policy/sandbox-settings.ts";
import { sourceVariables } from "./policy/secret-settings.ts";

export interface PlaceElsewhere {
  readonly workspace: Workspace;
  /** The working folder on that machine. */
  readonly cwd: () => string;
  /** The user's home on that machine. */
  readonly homeDirectory: string;
  /** This machine, without a working folder. */
  readonly here: Omit<SandboxPlaces, "cwd">;
}

/**
 * Opens a session's sandbox in a workspace on another machine. Its commands reach the network through this
 * host, which checks names and fills in secrets.
 *
 * @throws {WorkspaceError} `unsupported`: the workspace has no sandboxes
 */
export async function openSandboxElsewhere(
  policy: SandboxPolicy,
  place: PlaceElsewhere,
  sources: SecretSources,
): Promise<OpenedSandbox & { readonly workspace: Workspace }> {
  const { workspace, cwd, homeDirectory } = place;
  if (workspace.sandboxes === undefined) throw new WorkspaceError("unsupported");
  const secrets =
    policy.secrets.length > 0 ? new SessionSecrets(policy.secrets, sources) : undefined;
  const usesHost = secrets !== undefined || typeof policy.network !== "string";
  const proxy = usesHost ? await openProxy(policy, place, secrets) : undefined;
  const sandboxId = randomHex(8);
  const opened = await workspace.sandboxes.open({
    ...{ sandboxId, cwd: cwd(), mode: policy.mode === "readOnly" ? "readOnly" : "workspace" },
    ...{ write: policy.write, denyRead: policy.denyRead },
    network: usesHost ? "host" : policy.network === "all" ? "all" : "off",
    whenUnavailable: policy.whenUnavailable,
    variables: secrets?.variables,
    hidden: sourceVariables(policy.secrets),
    certificate: proxy?.certificate,
    onConnection: proxy?.onConnection ?? closedAtOnce,
  });
  const { available, mechanism, reason, remedy } = opened;
  const sandbox = createSandboxElsewhere({
    ...{ workspaceId: workspace.id, policy, opened, usesHost, cwd, homeDirectory },
    openHere: async () => (await openHere(policy, place.here, sources)).sandbox,
    onClose: async () => proxy?.close(),
  });
  const check = { available, mechanism, program: "", reason, remedy };
  const sandboxed = sandboxedWorkspace(workspace, () => ({ id: sandboxId, cwd: cwd() }));
  return { sandbox, check, secrets, workspace: sandboxed };
}

/** The session has no files on this machine, so programs here write only where settings allow it. */
function openHere(
  policy: SandboxPolicy,
  places: PlaceElsewhere["here"],
  sources: SecretSources,
): Promise<OpenedSandbox> {
  const own: SandboxPolicy = { ...policy, mode: "readOnly", secrets: [] };
  return openSandbox(own, { ...places, cwd: () => places.homeDirectory }, sources);
}

/** Without a proxy, connections are closed immediately. */
const closedAtOnce = (client: WorkspaceConnection): WorkspaceConnection => {
  client.close();
  return { write: () => {}, end: () => {}, close: () => {} };
};

/** A proxy in this host without a listening socket: connections arrive from the workspace. */
async function openProxy(
  policy: SandboxPolicy,
  place: PlaceElsewhere,
  secrets: SessionSecrets | undefined,
) {
  const [{ createProxy }, { ConnectionStream }] = await Promise.all([
    import("./network/proxy.ts"),
    import("./network/connection-stream.ts"),
  ]);
  const { rules, certificate } = await rulesOf(policy, place, secrets);
  const { server, close } = createProxy(rules);
  const onConnection = (client: WorkspaceConnection): WorkspaceConnection => {
    const stream = new ConnectionStream(client);
    server.emit("connection", stream);
    return stream.far;
  };
  return { certificate, close, onConnection };
}

async function rulesOf(
  policy: SandboxPolicy,
  { here: { homeDirectory, hostProcesses } }: PlaceElsewhere,
  secrets: SessionSecrets | undefined,
): Promise<{ readonly rules: ProxyRules; readonly certificate?: string }> {
  const { network } = policy;
  const domains = network === "all" ? ["*"] : network === "off" ? [] : network;
  const closedPorts = () => ownListeners(hostProcesses).ports;
  if (secrets === undefined) return { rules: { domains, closedPorts } };
  const { secretRules } = await import("./network/secret-door.ts");
  const places = { cwd: () => homeDirectory, homeDirectory };
  return secretRules({ secrets, domains, closedPorts, policy, places });
}
