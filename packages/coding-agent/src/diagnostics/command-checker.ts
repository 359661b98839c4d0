import type { DiagnosticsEntry } from "@tau-agent/system";
import { type CheckedPlace, createPlacePaths } from "./checked-place.ts";
import type { Checker } from "./checker.ts";
import { readOutput } from "./read-output.ts";

type CommandEntry = Extract<DiagnosticsEntry, { command: string }>;

/** A slow check, such as of a whole project, may continue after the call, but not forever. */
const limitMs = 120_000;
const maxOutput = 8 * 1024 * 1024;

export function createCommandChecker(entry: CommandEntry, place: CheckedPlace): Checker {
  const paths = createPlacePaths(place);

  return {
    /** Nothing to close: the signal ends a running check. */
    async close() {},
    async check(file, signal) {
      const { command: line, format } = entry;
      const { workspace, cwd, variables } = place;
      const pieces: Uint8Array[] = [];
      let size = 0;
      const child = await workspace.spawn({
        command: line.replaceAll("{file}", () => paths.quoted(file.path)),
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
        throw new Error(
          `${line} ended with exit code ${exitCode}${said === "" ? "" : `: ${said}`}`,
        );
      }
      return found.flatMap((problem) => {
        const path = paths.absolute(problem.file);
        if (path !== file.path && path !== file.realPath) return [];
        return [{ ...problem, file: paths.relative(file.path) }];
      });
    },
  };
}
