import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createAgentSession } from "@tau-agent/coding-agent";
import { FrameQueue, type TestHost } from "@tau-agent/conformance";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { readHostLine } from "../../src/command-line/read-host-line.ts";
import { Shutdown } from "../../src/process/shutdown.ts";
import { chooseDialect } from "../../src/rpc/choose-dialect.ts";
import { serve } from "../../src/rpc/serve.ts";
import { UiNotices } from "../../src/rpc/ui-notices.ts";
import { sessionOptions } from "../../src/session/session-options.ts";
import { recordHost } from "../recording/record-host.ts";
import { makePlace, type PlaceSetup } from "./place.ts";
import { SchemaCheck } from "./schema-check.ts";

/** Whether a setup is for the built host: one in this process has no subagents and one session. */
export function needsProcess({ git, arguments: words = [] }: PlaceSetup): boolean {
  return git === true || words.includes("--sessions");
}

/** A host in this process: everything but the process itself is real. */
export async function memoryHost(setup: PlaceSetup): Promise<TestHost> {
  const place = makePlace(setup);
  const agentDirectory = join(place.folder, "agent");
  const environment = {
    cwd: place.cwd,
    program: [],
    homeDirectory: place.folder,
    temporaryDirectory: place.folder,
    agentDirectory,
    sessionDirectory: undefined,
    variables: place.variables,
  };
  const notices = new UiNotices();
  const { promise: clientReady, resolve: onFirstAnswer } = Promise.withResolvers<void>();
  const shutdown = new Shutdown(() => {});
  const options = await sessionOptions(readHostLine(place.arguments), environment, {
    sendUiRequest: (request) => notices.send(request),
    onShutdown: () => void shutdown.begin(0),
    clientReady,
  });
  const session = await createAgentSession(options);
  const check = new SchemaCheck(place);
  const recording = recordHost(place.arguments, place.variables);
  const frames = new FrameQueue((frame) => check.violation(frame));
  const input = new PassThrough();
  const lines = new LineDecoder();
  const output = {
    write: (piece: string | Uint8Array, onWritten?: () => void) => {
      recording.append("stdout", piece);
      for (const line of lines.push(typeof piece === "string" ? Buffer.from(piece) : piece)) {
        if ("text" in line) frames.push(JSON.parse(line.text));
      }
      if (onWritten !== undefined) setImmediate(onWritten);
      return true;
    },
    onDrain: () => {},
    onClosed: () => {},
  };
  const logger = { warn() {}, error() {}, debug() {}, diagnostics() {} };
  const dialect = await chooseDialect(readHostLine(place.arguments).protocol, place.variables);
  serve({ session, dialect, notices, onFirstAnswer, input, output, shutdown, logger });
  return {
    folder: place.folder,
    send: (line) => {
      recording.append("stdin", `${line}\n`);
      input.write(`${line}\n`);
    },
    next: () => frames.next(),
    async [Symbol.asyncDispose]() {
      await shutdown.begin(0);
      place.remove();
    },
  };
}
