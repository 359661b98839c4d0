import { exportSession } from "@tau-agent/coding-agent";
import type { Result } from "@tau-agent/rpc-protocol";
import type { sessionCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers, SessionContext } from "./contexts.ts";

// Dialects and the encoder treat the texts like a list.
const forkMessages = ({ session }: SessionContext) => ({
  messages: session.navigation.userTexts as unknown as Result<"get_fork_messages">["messages"],
});

export const sessionHandlers = {
  set_session_name: ({ session }, { name }) => session.setName(name),
  switch_session: ({ host, session }, { sessionPath }) => {
    host.refusePathInUse(sessionPath, session);
    return session.navigation.switchSession(sessionPath);
  },
  fork: ({ session }, { entryId }) => session.navigation.fork(entryId),
  get_fork_messages: forkMessages,
  branch: ({ session }, { entryId }) => session.navigation.fork(entryId),
  get_branch_messages: forkMessages,
  clone: ({ session }) => session.navigation.clone(),
  get_entries: ({ session }, { since }) => session.navigation.entries(since),
  get_tree: ({ session }) => session.navigation.tree(),
  navigate_tree: ({ session }, { targetId, ...options }) =>
    session.navigation.navigate(targetId, options),
  set_label: ({ session }, { entryId, label }) => session.navigation.setLabel(entryId, label),
  export_html: async ({ session }, { outputPath }) => ({
    path: await exportSession(session, outputPath),
  }),
  export_session: async ({ session }, choice) => ({ path: await exportSession(session, choice) }),
  list_sessions: async ({ host, session }, options) => {
    // In a host with many sessions, the open ones; the schema of the answer describes the others.
    const ofHost = () => (options.saved ? host.saved() : host.current());
    const sessions = await (session?.navigation.list(options) ?? ofHost());
    return { sessions: sessions as Result<"list_sessions">["sessions"] };
  },
  delete_session: ({ session }, { sessionPath }) => session.navigation.delete(sessionPath),
} satisfies Pick<HostHandlers, keyof typeof sessionCommands>;
