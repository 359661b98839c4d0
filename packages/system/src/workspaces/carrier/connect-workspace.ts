import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { unlessAborted } from "../../base/unless-aborted.ts";
import { ProcessRegistry } from "../../processes/process-registry.ts";
import type { CarrierOptions, ServingClients } from "../common/carrier-options.ts";
import { unreachable } from "../common/unreachable.ts";
import {
  type ClientSpec,
  readWorkspaceSpec,
  type WorkspaceSpec,
  workspaceIdOf,
} from "../common/workspace-spec.ts";
import { shellConnector } from "../shell/connect-shell.ts";
import {
  type ConnectedWorkspace,
  type Connection,
  openConnectedWorkspace,
  type Reconnection,
} from "./connected-workspace.ts";
import { connectExec } from "./exec-connection.ts";

const defaultReconnectMs = 60_000;
const defaultConnectMs = 60_000;

/**
 * Connects to the workspace of a spec. The caller must dispose of it: its program runs until then.
 *
 * @throws {SessionError} `invalid_option` naming the member of the spec
 * @throws {ProtocolError} `workspace_unreachable`, with the last output of its program
 */
export async function connectWorkspace(
  spec: WorkspaceSpec,
  options: CarrierOptions = {},
): Promise<ConnectedWorkspace> {
  const checked = readWorkspaceSpec(spec, options);
  if ("command" in checked) {
    return connectProgram(options, ({ limitMs, ...request }) =>
      connectExec(checked, { ...request, connectMs: limitMs }),
    );
  }
  if ("shell" in checked) return connectProgram(options, shellConnector(checked));
  if (options.client !== undefined) return connectClient(checked, options.client, options);
  const reason = "it needs a session over RPC, whose client serves the workspace";
  throw new SessionError("invalid_option", { option: "workspace.client", reason });
}

/** A workspace served by a client: no program is started, and a connecting client ends the wait. */
function connectClient(
  spec: ClientSpec,
  client: ServingClients,
  options: CarrierOptions,
): Promise<ConnectedWorkspace> {
  const id = workspaceIdOf(spec);
  const connect: Reconnection["connect"] = async ({ onLost, limitMs }) => {
    const workspace = await client.connect({ id, cwd: spec.cwd, onLost });
    if (workspace === undefined) {
      throw unreachable(spec, "no client serves it: initialize with capabilities.workspace");
    }
    const overdue = (): Error => unreachable(spec, `its client does not answer`);
    try {
      await unlessAborted(workspace.describe(), AbortSignal.timeout(Math.ceil(limitMs)), overdue);
    } catch (error) {
      throw isWorkspaceError(error) ? unreachable(spec, error) : error;
    }
    return { workspace };
  };
  const { reconnectMs = defaultReconnectMs, connectMs = defaultConnectMs, onStatus } = options;
  return openConnectedWorkspace({
    ...{ connect, reconnectMs, connectMs, onStatus },
    onDispose: () => client.end(),
    reachable: () => client.served(),
  });
}

type Connect = (
  request: Parameters<Reconnection["connect"]>[0] &
    CarrierOptions & { readonly processes: ProcessRegistry },
) => Promise<Connection>;

async function connectProgram(
  options: CarrierOptions,
  connect: Connect,
): Promise<ConnectedWorkspace> {
  const own = options.processes === undefined ? new ProcessRegistry() : undefined;
  const processes = options.processes ?? (own as ProcessRegistry);
  const onDispose = (): void => own?.killAll();
  try {
    return await openConnectedWorkspace(
      {
        connect: (request) => connect({ ...options, ...request, processes }),
        reconnectMs: options.reconnectMs ?? defaultReconnectMs,
        connectMs: options.connectMs ?? defaultConnectMs,
        onStatus: options.onStatus,
        onDispose,
      },
      options.signal,
    );
  } catch (error) {
    onDispose();
    throw error;
  }
}
