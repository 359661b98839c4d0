import { PassThrough, type Readable, type Writable } from "node:stream";
import type { Place } from "@tau-agent/conformance";
import { runAcp } from "../../src/acp/acp.ts";
import { readHostLine } from "../../src/command-line/read-host-line.ts";
import { environmentFrom } from "../../src/process/environment.ts";
import { Shutdown } from "../../src/process/shutdown.ts";
import { binPath } from "./start-host.ts";

/** An agent as an editor sees it. */
export interface EditorsAgent {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  readonly kill: () => void;
}

/** `tau acp` in this process: everything but the process itself is real. */
export function memoryAgent({ cwd, variables, arguments: words }: Place): EditorsAgent {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const { promise: ended, resolve: exit } = Promise.withResolvers<number>();
  const shutdown = new Shutdown((code) => {
    stdout.end();
    exit(code);
  });
  const say = (text: string) => void stderr.write(`${text}\n`);
  runAcp({
    options: readHostLine(words),
    environment: { cwd, program: [process.execPath, binPath], ...environmentFrom(variables) },
    input: stdin,
    output: {
      write: (piece, onWritten) => stdout.write(piece, () => onWritten?.()),
      onDrain: (listener) => void stdout.once("drain", listener),
      onClosed: () => {},
    },
    shutdown,
    logger: {
      warn: say,
      error: (text, error) => say(`${text} ${error}`),
      debug: () => {},
      diagnostics: (found) => say(found.map(({ message }) => message).join("\n")),
    },
    beforeExtensions: async () => {},
  });
  return { stdin, stdout, stderr, ended, kill: () => void shutdown.begin(0) };
}
