import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { createAgentSession } from "@tau-agent/coding-agent";
import { LineDecoder } from "@tau-agent/rpc-protocol";
import { parseArgs } from "../../src/args.ts";
import { serve } from "../../src/rpc/serve.ts";
import { sessionOptions } from "../../src/session-options.ts";
import { Shutdown } from "../../src/shutdown.ts";
import { FrameQueue, type TestHost } from "./run-transcript.ts";
import type { TranscriptSetup } from "./transcript.ts";

/** The host's entry, as it is installed. */
export const binPath = fileURLToPath(new URL("../../bin/tau.js", import.meta.url));

/** Folders and arguments of one host over a scripted model. */
export interface Place {
  readonly folder: string;
  readonly cwd: string;
  readonly arguments: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly remove: () => void;
}

export function makePlace(setup: Partial<TranscriptSetup> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), "tau-host-"));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "notes.txt"), "one\ntwo\n");
  const scenario = join(folder, "scenario.json");
  writeFileSync(scenario, JSON.stringify(setup.scenario ?? []));
  const scripted = ["--provider", "scripted", "--model", scenario];
  return {
    folder,
    cwd,
    arguments: ["--mode", "rpc", ...(setup.arguments ?? []), ...scripted],
    variables: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      PI_CODING_AGENT_DIR: join(folder, "agent"),
      ...setup.environment,
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A host in this process: everything but the process itself is real. */
export async function memoryHost(setup: TranscriptSetup): Promise<TestHost> {
  const place = makePlace(setup);
  const agentDirectory = join(place.folder, "agent");
  const environment = {
    cwd: place.cwd,
    homeDirectory: place.folder,
    temporaryDirectory: place.folder,
    agentDirectory,
    sessionDirectory: undefined,
    variables: place.variables,
  };
  const options = await sessionOptions(parseArgs(place.arguments), environment);
  const session = await createAgentSession(options);
  const frames = new FrameQueue();
  const input = new PassThrough();
  const shutdown = new Shutdown(() => {});
  const lines = new LineDecoder();
  const output = {
    write: (text: string, onWritten?: () => void) => {
      for (const line of lines.push(Buffer.from(text))) if ("text" in line) frames.push(line.text);
      if (onWritten !== undefined) setImmediate(onWritten);
      return true;
    },
    onDrain: () => {},
    onClosed: () => {},
  };
  const logger = { warn() {}, error() {}, debug() {}, diagnostics() {} };
  serve({ session, input, output, shutdown, logger });
  return {
    send: (line) => void input.write(`${line}\n`),
    next: () => frames.next(),
    async [Symbol.asyncDispose]() {
      await shutdown.begin(0);
      place.remove();
    },
  };
}

/** The built host as a child process. */
export async function spawnedHost(setup: TranscriptSetup): Promise<TestHost> {
  const place = makePlace(setup);
  const child = spawn(process.execPath, [binPath, ...place.arguments], {
    cwd: place.cwd,
    env: place.variables,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const frames = new FrameQueue();
  const lines = new LineDecoder();
  child.stdout.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk)) if ("text" in line) frames.push(line.text);
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  return {
    send: (line) => void child.stdin.write(`${line}\n`),
    next: () => frames.next(),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
      place.remove();
    },
  };
}
