import { SessionError } from "@tau-agent/coding-agent";
import type { Handlers } from "@tau-agent/rpc-protocol";
import type { toolCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const toolHandlers = {
  set_host_tools: ({ session, requests }, { tools }) => {
    const toolNames = [...session.hostTools.set(tools)];
    requests.runsTools = true;
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
} satisfies Pick<Handlers<Host>, keyof typeof toolCommands>;
