import { exportSession } from "@tau-agent/coding-agent";
import type { Handlers } from "@tau-agent/rpc-protocol";
import type { sessionCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const sessionHandlers = {
  set_session_name: ({ session }, { name }) => session.setName(name),
  switch_session: ({ session }, { sessionPath }) => session.navigation.switchSession(sessionPath),
  fork: ({ session }, { entryId }) => session.navigation.fork(entryId),
  get_fork_messages: ({ session }) => ({ messages: session.navigation.forkMessages() }),
  branch: ({ session }, { entryId }) => session.navigation.fork(entryId),
  get_branch_messages: ({ session }) => ({ messages: session.navigation.forkMessages() }),
  clone: ({ session }) => session.navigation.clone(),
  get_entries: ({ session }, { since }) => session.navigation.entries(since),
  get_tree: ({ session }) => session.navigation.tree(),
  navigate_tree: ({ session }, { targetId, ...options }) =>
    session.navigation.navigate(targetId, options),
  set_label: ({ session }, { entryId, label }) => session.navigation.setLabel(entryId, label),
  export_html: async ({ session }, { outputPath }) => ({
    path: await exportSession(session, outputPath),
  }),
  list_sessions: async ({ session }, options) => ({
    sessions: await session.navigation.list(options),
  }),
  delete_session: ({ session }, { sessionPath }) => session.navigation.delete(sessionPath),
} satisfies Pick<Handlers<Host>, keyof typeof sessionCommands>;
