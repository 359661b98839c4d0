import type { DiagnosticsEntry, FileProblem } from "@tau-agent/system";
import { type CheckedPlace, PlacePaths } from "./checked-place.ts";
import type { CheckedFile, Checker } from "./checker.ts";
import { readOutput } from "./read-output.ts";

type CommandEntry = Extract<DiagnosticsEntry, { command: string }>;

/** A check of a whole project may go on behind later calls, but not forever. */
const limitMs = 120_000;
const maxOutput = 8 * 1024 * 1024;

export class CommandChecker implements Checker {
  readonly #entry: CommandEntry;
  readonly #place: CheckedPlace;
  readonly #paths: PlacePaths;

  constructor(entry: CommandEntry, place: CheckedPlace) {
    this.#entry = entry;
    this.#place = place;
    this.#paths = new PlacePaths(place);
  }

  /** A running check ends with its signal. */
  async close(): Promise<void> {}

  async check(file: CheckedFile, signal: AbortSignal): Promise<readonly FileProblem[] | undefined> {
    const { command: line, format } = this.#entry;
    const { workspace, cwd, variables } = this.#place;
    const pieces: Uint8Array[] = [];
    let size = 0;
    const child = await workspace.spawn({
      command: line.replaceAll("{file}", () => this.#paths.quoted(file.path)),
      cwd,
      environment: variables,
      timeoutMs: limitMs,
      signal,
      onOutput: (bytes) => {
        size += bytes.length;
        if (size <= maxOutput) pieces.push(bytes);
      },
    });
    const { exitCode, timedOut } = await child.done;
    if (signal.aborted || timedOut) return undefined;
    const output = Buffer.concat(pieces).toString("utf8");
    const found = readOutput(output, format);
    if (exitCode !== 0 && found.length === 0) {
      const said = output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
      throw new Error(`${line} ended with exit code ${exitCode}${said === "" ? "" : `: ${said}`}`);
    }
    return found.flatMap((problem) => {
      const path = this.#paths.absolute(problem.file);
      if (path !== file.path && path !== file.realPath) return [];
      return [{ ...problem, file: this.#paths.relative(file.path) }];
    });
  }
}
