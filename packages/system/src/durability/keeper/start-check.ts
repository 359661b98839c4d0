import type { Readable } from "node:stream";
import type { StartSigns } from "../../processes/sandbox.ts";
import type { failedStart } from "../../processes/start-status.ts";

/**
 * Keeps the error of a sandbox that could not be set up out of the command's output.
 *
 * The process that keeps commands runs this function from its source text, so it must not use anything outside itself.
 *
 * @param pass receives the command's output
 */
export function createStartCheck(
  reasonOf: typeof failedStart,
  signs: StartSigns | undefined,
  status: Readable | null | undefined,
  pass: (chunk: Buffer, stream: string) => void,
) {
  const kept: Buffer[] = [];
  /** Undefined until there is output. */
  let isHolding = signs === undefined ? false : undefined;
  let said = "";
  status?.on("data", (chunk: Buffer) => {
    if (said.length < 65_536) said += chunk;
  });
  status?.on("error", () => {});

  function passOn(): void {
    isHolding = false;
    for (const chunk of kept.splice(0)) pass(chunk, "stderr");
  }

  function mayBeError(chunk: Buffer): boolean {
    const prefix = signs?.errorPrefix ?? "";
    return chunk.toString("utf8", 0, prefix.length) === prefix;
  }

  function hold(): boolean {
    // A sandbox that cannot be set up ends immediately; a process that keeps running is the command.
    setTimeout(passOn, 1_000).unref();
    return true;
  }

  return {
    take(chunk: Buffer, stream: string): void {
      isHolding ??= stream === "stderr" && mayBeError(chunk) && hold();
      if (isHolding && stream === "stderr") kept.push(chunk);
      else pass(chunk, stream);
    },
    /** Why the command never ran; undefined if it ran. */
    end(exitCode: number | null): string | undefined {
      const errors = Buffer.concat(kept).toString();
      const reason = signs && reasonOf(signs, { exitCode, said, errors });
      if (reason === undefined) passOn();
      return reason;
    },
  };
}
