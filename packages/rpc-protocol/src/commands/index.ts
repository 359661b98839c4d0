import type * as z from "zod/mini";
import type { RequestId } from "../vocabulary/host-frame.ts";
import { bashCommands } from "./bash.ts";
import { budgetCommands } from "./budget.ts";
import { compactionCommands } from "./compaction.ts";
import { connectionCommands } from "./connection.ts";
import { hostingCommands } from "./hosting.ts";
import { jobCommands } from "./jobs.ts";
import { loginCommands } from "./logins.ts";
import { mcpCommands } from "./mcp.ts";
import { modelCommands } from "./model.ts";
import { ohMyPiCommands } from "./oh-my-pi.ts";
import { permissionCommands } from "./permissions.ts";
import { promptingCommands } from "./prompting.ts";
import { queueCommands } from "./queue.ts";
import { requestCommands } from "./requests.ts";
import { rewindCommands } from "./rewind.ts";
import { sessionCommands } from "./session.ts";
import { stateCommands } from "./state.ts";
import { subagentCommands } from "./subagents.ts";
import { todoCommands } from "./todos.ts";
import { toolCommands } from "./tools.ts";

export {
  bashCommands,
  budgetCommands,
  compactionCommands,
  connectionCommands,
  hostingCommands,
  jobCommands,
  loginCommands,
  mcpCommands,
  modelCommands,
  ohMyPiCommands,
  permissionCommands,
  promptingCommands,
  queueCommands,
  requestCommands,
  rewindCommands,
  sessionCommands,
  stateCommands,
  subagentCommands,
  todoCommands,
  toolCommands,
};

/** Every command of the protocol by its wire name. */
export const commands = {
  ...promptingCommands,
  ...stateCommands,
  ...modelCommands,
  ...loginCommands,
  ...queueCommands,
  ...compactionCommands,
  ...bashCommands,
  ...jobCommands,
  ...subagentCommands,
  ...ohMyPiCommands,
  ...budgetCommands,
  ...todoCommands,
  ...toolCommands,
  ...permissionCommands,
  ...mcpCommands,
  ...requestCommands,
  ...sessionCommands,
  ...rewindCommands,
  ...connectionCommands,
  ...hostingCommands,
};

/** The wire name of a command. */
export type CommandName = keyof typeof commands;

/** The fields of a command besides `id` and `type`. */
export type Params<N extends CommandName> = z.infer<ReturnType<(typeof commands)[N]["params"]>>;

/** The `data` of a command's response. */
export type Result<N extends CommandName> = z.infer<ReturnType<(typeof commands)[N]["result"]>>;

/** One function per command; a missing or wrongly typed one does not compile. */
export type Handlers<Context> = {
  [N in CommandName]: (
    context: Context,
    params: Params<N>,
    request: { readonly id: RequestId | undefined },
  ) => Returned<N> | Promise<Returned<N>>;
};

/** A command without `data` may be handled by a function that returns nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: used only as the return type of a function
type Returned<N extends CommandName> = undefined extends Result<N> ? void : Result<N>;

/** Whether `name` is a command of the protocol. */
export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}
