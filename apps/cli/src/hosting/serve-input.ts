import { LineDecoder } from "@tau-agent/rpc-protocol";
import { FrameWriter } from "../rpc/connection/writer.ts";
import { Client, type ClientSetup } from "./clients/client.ts";
import { pushLines } from "./clients/push-lines.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";

/** Serves the one client on stdin and stdout. */
export function serveInput(
  setup: ClientSetup,
  { input, output, shutdown }: Pick<HostingContext, "input" | "output" | "shutdown">,
): void {
  const writer = new FrameWriter(output);
  const client = new Client({ ...setup, writer });
  const decoder = new LineDecoder();
  input.on("data", (chunk: Buffer) => {
    if (shutdown.hasBegun) return;
    pushLines(client, decoder.push(chunk));
    writer.flush();
  });
  input.on("end", () => {
    if (!shutdown.hasBegun) pushLines(client, decoder.end());
    void client.accepted().then(() => shutdown.begin(0));
  });
  input.on("error", () => void shutdown.begin(0));
  output.onClosed(() => void shutdown.begin(0));
  shutdown.onShutdown(async () => {
    writer.stopWaiting();
    await setup.pool.closeAll();
    await client.settled();
    await writer.end();
  });
}
