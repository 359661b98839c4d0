import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { SessionError } from "@tau-agent/coding-agent";
import { unlessAborted } from "@tau-agent/system";
import { showControls, writeControls } from "../process/terminal.ts";

/** A program that pipes in a key has the key ready. */
const pipeLimitMs = 10_000;
const maxLength = 64 * 1024;

export interface LineRequest {
  readonly prompt: string;
  /** Input is not echoed. */
  readonly isSecret: boolean;
  readonly hasTerminal: boolean;
}

/** Reads one line of stdin: at a prompt on a terminal, otherwise for at most ten seconds. */
export async function readLine({ prompt, isSecret, hasTerminal }: LineRequest): Promise<string> {
  return hasTerminal ? ask(prompt, isSecret) : readPiped();
}

async function ask(prompt: string, isSecret: boolean): Promise<string> {
  let isHidden = false;
  const output = new Writable({
    write(piece, _encoding, done) {
      if (!isHidden) writeControls(process.stderr, String(piece));
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl-C and Ctrl-D cancel the prompt and with it the command.
  const ended = new AbortController();
  lines.once("SIGINT", () => ended.abort());
  lines.once("close", () => ended.abort());
  try {
    const answer = lines.question(showControls(prompt), { signal: ended.signal });
    isHidden = isSecret;
    return await answer;
  } catch (error) {
    if (ended.signal.aborted) throw none("nothing was entered");
    throw error;
  } finally {
    lines.close();
    if (isSecret) process.stderr.write("\n");
  }
}

async function readPiped(): Promise<string> {
  const { stdin } = process;
  let text = "";
  const read = async (): Promise<string> => {
    stdin.setEncoding("utf8");
    for await (const piece of stdin) {
      text += piece;
      const end = text.indexOf("\n");
      if (end !== -1) return text.slice(0, end);
      if (text.length > maxLength) throw none("the line on stdin is too long");
    }
    return text;
  };
  try {
    return await unlessAborted(read(), AbortSignal.timeout(pipeLimitMs), () =>
      none(`no line came on stdin within ${pipeLimitMs / 1000} s`),
    );
  } finally {
    stdin.destroy();
  }
}

function none(reason: string): SessionError {
  return new SessionError("invalid_option", { option: "--method key", reason });
}
