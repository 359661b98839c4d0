import type { TestHost } from "@tau-agent/conformance";
import { MemoryHost } from "./memory-host.ts";
import { makePlace, type PlaceSetup } from "./place.ts";

/** Whether a setup needs the built host, because an in-memory host has no subagents and only one session. */
export function needsProcess({ git, arguments: words = [] }: PlaceSetup): boolean {
  return git === true || words.includes("--sessions");
}

/** A host in this process for a transcript. */
export async function memoryHost(setup: PlaceSetup): Promise<TestHost> {
  const place = makePlace(setup);
  const host = await MemoryHost.open(place);
  return {
    folder: place.folder,
    send: (line) => host.send(line),
    next: () => host.frames.next(),
    async [Symbol.asyncDispose]() {
      await host.finish();
      place.remove();
    },
  };
}
