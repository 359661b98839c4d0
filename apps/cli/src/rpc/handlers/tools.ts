import { SessionError } from "@tau-agent/coding-agent";
import type { toolCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const toolHandlers = {
  set_host_tools: ({ session, attachment }, { tools }, { afterAnswer }) => {
    const toolNames = [...session.hostTools.set(tools)];
    attachment.takeWork("host_tool");
    afterAnswer(() => attachment.orderWork("host_tool"));
    return { toolNames };
  },
  get_tools: ({ session }) => ({ tools: session.activeTools }),
  set_active_tools: ({ session: { tools } }, { toolNames }) => {
    const known = new Set(tools.all.map(({ name }) => name));
    const unknown = toolNames.find((name) => !known.has(name));
    if (unknown !== undefined) throw new SessionError("tool_not_found", { name: unknown });
    tools.activate(toolNames);
    return { toolNames: tools.active.map(({ name }) => name) };
  },
} satisfies Pick<HostHandlers, keyof typeof toolCommands>;
