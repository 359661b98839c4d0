import { bashHandlers } from "./bash.ts";
import { budgetHandlers } from "./budget.ts";
import { compactionHandlers } from "./compaction.ts";
import { connectionHandlers } from "./connection.ts";
import type { HostHandlers } from "./contexts.ts";
import { hostingHandlers } from "./hosting.ts";
import { jobHandlers } from "./jobs.ts";
import { loginHandlers } from "./logins.ts";
import { mcpHandlers } from "./mcp.ts";
import { modelHandlers } from "./model.ts";
import { ohMyPiHandlers } from "./oh-my-pi.ts";
import { permissionHandlers } from "./permissions.ts";
import { promptingHandlers } from "./prompting.ts";
import { queueHandlers } from "./queue.ts";
import { requestHandlers } from "./requests.ts";
import { rewindHandlers } from "./rewind.ts";
import { sessionHandlers } from "./session.ts";
import { stateHandlers } from "./state.ts";
import { subagentHandlers } from "./subagents.ts";
import { todoHandlers } from "./todos.ts";
import { toolHandlers } from "./tools.ts";

export const handlers = {
  ...promptingHandlers,
  ...stateHandlers,
  ...modelHandlers,
  ...loginHandlers,
  ...queueHandlers,
  ...compactionHandlers,
  ...bashHandlers,
  ...jobHandlers,
  ...subagentHandlers,
  ...ohMyPiHandlers,
  ...budgetHandlers,
  ...todoHandlers,
  ...toolHandlers,
  ...permissionHandlers,
  ...mcpHandlers,
  ...requestHandlers,
  ...sessionHandlers,
  ...rewindHandlers,
  ...connectionHandlers,
  ...hostingHandlers,
} satisfies HostHandlers;
