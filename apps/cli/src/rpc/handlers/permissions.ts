import { permissionProblem } from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { permissionCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers, SessionContext } from "./contexts.ts";

export const permissionHandlers = {
  set_permissions: ({ session: { permissions } }, change) => {
    const problem = permissionProblem(change);
    if (problem !== undefined) {
      throw new ProtocolError("invalid_params", { command: "set_permissions", ...problem });
    }
    permissions.set(change);
    return stateOf(permissions);
  },
  get_permissions: ({ session: { permissions } }) => stateOf(permissions),
  get_policy: ({ host, session }) => {
    const { merged = {}, given = [] } = (session === undefined ? host : session).policy ?? {};
    return { policy: merged, given: [...given] };
  },
} satisfies Pick<HostHandlers, keyof typeof permissionCommands>;

function stateOf({ state }: SessionContext["session"]["permissions"]) {
  const { mode, rules, onTimeout, timeoutMs } = state;
  return { mode, rules: [...rules], onTimeout, timeoutMs };
}
