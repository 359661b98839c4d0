import type { bashCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const bashHandlers = {
  bash: ({ session, connection }, { command, excludeFromContext, stream }, { id }) => {
    // A user's own act, but not one that the host's policy leaves out.
    session.policy?.requireTool("bash");
    const name = id === undefined ? {} : { id };
    const onDelta = (delta: string): void | Promise<void> =>
      connection.send({ type: "bash_execution_update", ...name, delta }, session.nextOrder());
    return session.bash.run(command, {
      excludeFromContext,
      onDelta: (stream ?? connection.dialect.streamsBash) ? onDelta : undefined,
    });
  },
  abort_bash: ({ session }) => session.bash.abort(),
} satisfies Pick<HostHandlers, keyof typeof bashCommands>;
