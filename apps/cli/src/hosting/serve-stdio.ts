import { type DecodedLine, LineDecoder } from "@tau-agent/rpc-protocol";
import { LineSlices } from "../rpc/connection/line-slices.ts";
import { FrameWriter } from "../rpc/connection/writer.ts";
import { Client } from "./clients/client.ts";
import type { ClientSetup } from "./clients/client-options.ts";
import { pushLines } from "./clients/push-lines.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";

/** Serves the one client on stdin and stdout. */
export function serveStdio(
  setup: ClientSetup,
  { input, output, shutdown }: Pick<HostingContext, "input" | "output" | "shutdown">,
): void {
  const writer = new FrameWriter(output);
  const client = new Client({ ...setup, writer });
  const decoder = new LineDecoder();
  const take = (line: DecodedLine): void => {
    if (!shutdown.hasBegun) pushLines(client, [line]);
  };
  const lines = new LineSlices(take, writer);
  input.on("data", (chunk: Buffer) => lines.push(decoder.push(chunk)));
  input.on("end", () => {
    lines.push(decoder.end());
    void lines
      .idle()
      .then(() => client.accepted())
      .then(() => shutdown.begin(0));
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
