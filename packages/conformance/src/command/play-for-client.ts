import { decodeClientFrame, LineDecoder } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { type SpawnOptions, spawnHost } from "../hosts/spawned-host.ts";
import type { Transcript } from "../transcripts/transcript.ts";

interface Wanted {
  readonly line: string;
  readonly at: number;
  readonly frame: Readonly<Record<string, unknown>>;
}

/** Where text for the user or the client goes. */
export interface TextOutput {
  write(text: string, onWritten?: () => void): unknown;
}

/** Where a client's lines come from, where the host's lines go, and where deviations are reported. */
export interface ClientSide {
  readonly input: AsyncIterable<Buffer>;
  readonly output: TextOutput;
  readonly report: (deviation: string) => void;
}

/**
 * Acts as a transcript's host for a client under test. The host runs with the transcript's files and scripted model,
 * so the client receives real frames. The client's lines are checked on the way.
 *
 * @returns the number of deviations from the protocol or the transcript
 */
export async function playForClient(
  transcript: Transcript,
  client: ClientSide,
  options: SpawnOptions,
): Promise<number> {
  const check = new ClientCheck(transcript);
  let count = 0;
  const report = (deviations: readonly string[]): void => {
    count += deviations.length;
    for (const deviation of deviations) client.report(deviation);
  };
  await using host = await spawnHost(transcript, options);
  const { child, ended } = host.process;
  const text = new TextDecoder();
  child.stdout.on("data", (bytes: Buffer) => {
    client.output.write(text.decode(bytes, { stream: true }));
  });
  const lines = new LineDecoder();
  const pass = (decoded: Iterable<{ text: string } | { oversizedBytes: number }>): void => {
    for (const line of decoded) {
      if (!("text" in line) || line.text.trim() === "") continue;
      report(check.take(line.text));
      host.send(line.text);
    }
  };
  for await (const piece of client.input) pass(lines.push(piece));
  pass(lines.end());
  child.stdin.end();
  await ended;
  report(check.missing());
  return count;
}

/** Checks a client's lines against the protocol and the transcript. */
class ClientCheck {
  readonly #wanted: Wanted[];
  /** Why the last line of the right type did not match. */
  #nearest = "";

  constructor({ steps }: Transcript) {
    this.#wanted = steps.flatMap((step) => {
      if (step.kind !== "send") return [];
      // Lines that are not commands are not required of a client.
      const { kind } = decodeClientFrame(step.line);
      return kind === "error" ? [] : [{ ...step, frame: JSON.parse(step.line) }];
    });
  }

  /** The problems of a line. Commands that the transcript does not contain are allowed. */
  take(line: string): string[] {
    const decoded = decodeClientFrame(line);
    if (decoded.kind === "error") return [`${decoded.error}: ${line}`];
    const [next] = this.#wanted;
    const frame: unknown = JSON.parse(line);
    if (next === undefined || !isJsonObject(frame) || frame.type !== next.frame.type) return [];
    const lacking = Object.entries(next.frame).find(
      ([name, value]) => name !== "id" && kindOf(frame[name]) !== kindOf(value),
    );
    if (lacking === undefined) {
      this.#wanted.shift();
      this.#nearest = "";
    } else {
      this.#nearest = `; ${line} has no ${lacking[0]} of the kind ${kindOf(lacking[1])}`;
    }
    return [];
  }

  missing(): string[] {
    return this.#wanted.map(({ line, at }, index) => {
      return `line ${at} never came: ${line}${index === 0 ? this.#nearest : ""}`;
    });
  }
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value);
