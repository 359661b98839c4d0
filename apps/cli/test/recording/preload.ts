/**
 * Loaded first, through NODE_OPTIONS, into every Node process that a test starts directly or indirectly. A
 * host records its input and output, and every process records the lines it writes to session files.
 */
import { join } from "node:path";
import {
  noteRefusal,
  noteUnrecorded,
  Recording,
  watchSessionFiles,
  watchSpawns,
} from "./recording.ts";

// An import would evaluate every export and load more: 6 ms in each of a thousand processes.
const { subscribe } = process.getBuiltinModule("node:diagnostics_channel");
const { realpathSync } = process.getBuiltinModule("node:fs");
const { enableCompileCache } = process.getBuiltinModule("node:module");
const { isMainThread } = process.getBuiltinModule("node:worker_threads");

const { searchParams } = new URL(import.meta.url);
const root = searchParams.get("to") ?? "";
const test = searchParams.get("test") ?? "";

// Records the requests that a loopback server of this process refuses.
subscribe("@tau-agent/ai/testing/refusal", (refusal) => noteRefusal(root, { test, refusal }));
if (isMainThread) record();

function record(): void {
  const recording = new Recording(root, {
    test,
    argv: process.argv.slice(2),
    protocol: process.env.PI_RPC_PROTOCOL,
  });
  watchSessionFiles((path, line) => recording.append("sessions", `\t${path}\t${line}\n`));
  watchSpawns((command) => noteUnrecorded(root, { test, command }));
  if (!isHost(process.argv[1])) {
    // A host has its own compile cache. Without this one, each process would compile its TypeScript programs again.
    enableCompileCache(join(root, "compiled"));
    return;
  }
  const { stdout, stdin } = process;
  const write = stdout.write.bind(stdout) as (...given: unknown[]) => boolean;
  stdout.write = (...given: unknown[]) => {
    recording.append("stdout", given[0] as string);
    return write(...given);
  };
  const push = stdin.push.bind(stdin);
  stdin.push = (chunk: unknown, encoding) => {
    if (chunk !== null) recording.append("stdin", chunk as Uint8Array);
    return push(chunk, encoding);
  };
}

function isHost(program: string | undefined): boolean {
  try {
    return /\/apps\/cli\/bin\/tau\.js$|\/packages\/pi\/bin\/pi\.js$|\/fake-host\.mjs$/.test(
      realpathSync(program ?? ""),
    );
  } catch {
    return false;
  }
}
