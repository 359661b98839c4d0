import { type StdioProcess, serveLines } from "../rpc/connection/serve-lines.ts";
import { FrameWriter } from "../rpc/connection/writer.ts";
import { NewerClientHint } from "../rpc/newer-client.ts";
import { Client } from "./clients/client.ts";
import type { ClientSetup } from "./clients/client-options.ts";
import { pushLines } from "./clients/push-lines.ts";
import type { ServingClientOptions } from "./clients/serving-client.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";

/**
 * Serves a client on stdin and stdout.
 *
 * @param open opens the only session if its client serves the workspace; the returned promise then resolves
 * once the session is open
 */
export async function serveStdio(
  setup: ClientSetup,
  host: StdioProcess & HostingContext,
  open?: ServingClientOptions["open"],
): Promise<void> {
  const { options, environment, logger, shutdown } = host;
  const writer = new FrameWriter(host.output);
  const isDialectChosen = options.protocol || environment.variables.PI_RPC_PROTOCOL;
  const hint = new NewerClientHint(logger, Boolean(options.sessions || isDialectChosen));
  const connect = (): Client =>
    new Client({
      ...setup,
      writer,
      before: (frame) => hint.before(frame),
      isEnding: () => shutdown.hasBegun,
    });
  let client = open === undefined ? connect() : undefined;
  const serving = open && new (await servingClient())({ writer, open, connect });
  serveLines(host, {
    writer,
    take: (line) => (serving ? serving.push(line) : client && pushLines(client, [line])),
    owesAnswers: () => (serving ?? client)?.owesAnswers ?? false,
    begun: async () => (serving ? serving.ended() : client?.accepted()),
    async close() {
      await client?.nearlySettled();
      await setup.pool.closeAll();
      await client?.settled();
    },
  });
  client ??= await serving?.opened;
}

const servingClient = async () => (await import("./clients/serving-client.ts")).ServingClient;
