import { type StdioProcess, serveLines } from "../rpc/connection/serve-lines.ts";
import { FrameWriter } from "../rpc/connection/writer.ts";
import { Client } from "./clients/client.ts";
import type { ClientSetup } from "./clients/client-options.ts";
import { pushLines } from "./clients/push-lines.ts";

/** Serves the one client on stdin and stdout. */
export function serveStdio(setup: ClientSetup, host: StdioProcess): void {
  const writer = new FrameWriter(host.output);
  const client = new Client({ ...setup, writer });
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
