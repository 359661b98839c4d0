import type { HostProcess } from "@tau-agent/conformance";
import type { Frame } from "./test-client.ts";

/** The next frame of a host with these members; other frames are skipped. */
export async function nextLike(host: HostProcess, members: Frame): Promise<Frame> {
  for (;;) {
    const frame = await host.frames.next();
    if (frame === undefined) {
      throw new Error(`nothing came like ${JSON.stringify(members)}; stderr: ${host.stderr}`);
    }
    if (Object.entries(members).every(([name, value]) => frame[name] === value)) return frame;
  }
}
