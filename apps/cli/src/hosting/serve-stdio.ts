import { type StdioProcess, serveLines } from "../rpc/connection/serve-lines.ts";
import { FrameWriter } from "../rpc/connection/writer.ts";
import { NewerClientHint } from "../rpc/newer-client.ts";
import { Client } from "./clients/client.ts";
import type { ClientSetup } from "./clients/client-options.ts";
import { pushLines } from "./clients/push-lines.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";

export function serveStdio(setup: ClientSetup, host: StdioProcess & HostingContext): void {
  const { options, environment, logger, shutdown } = host;
  const writer = new FrameWriter(host.output);
  const isDialectChosen = options.protocol || environment.variables.PI_RPC_PROTOCOL;
  const hint = new NewerClientHint(logger, Boolean(options.sessions || isDialectChosen));
  const client = new Client({
    ...setup,
    writer,
    before: (frame) => hint.before(frame),
    isEnding: () => shutdown.hasBegun,
  });
  serveLines(host, {
    writer,
    take: (line) => pushLines(client, [line]),
    owesAnswers: () => client.owesAnswers,
    begun: () => client.accepted(),
    async close() {
      await client.nearlySettled();
      await setup.pool.closeAll();
      await client.settled();
    },
  });
}
