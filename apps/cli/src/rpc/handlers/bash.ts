import type { bashCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const bashHandlers = {
  bash: ({ session, connection }, { command, excludeFromContext, stream }, { id }) => {
    // The user runs this command, but it still needs the policy's permission.
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
