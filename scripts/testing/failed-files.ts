import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { TestModule } from "vitest/node";

/** The files of a run in which a test failed. */
export interface FailedFiles {
  /** Relative to the repository. */
  readonly files: readonly string[];
  /** Whether running them again says something: not of a property, nor of what failed besides tests. */
  readonly isRepeatable: boolean;
}

/** Where the test command wants to read which files failed. */
const { TAU_FAILED_FILES } = process.env;

/** Notes which files failed, for {@link readFailedFiles} of the process that started this run. */
export function noteFailedFiles(
  modules: readonly TestModule[],
  unhandledErrors: readonly unknown[],
): void {
  if (TAU_FAILED_FILES === undefined) return;
  const failed = modules.filter((module) => !module.ok());
  const isRepeatable = unhandledErrors.length === 0 && !failed.some(breaksProperty);
  const files = failed.map(({ relativeModuleId }) => relativeModuleId);
  writeFileSync(TAU_FAILED_FILES, JSON.stringify({ files, isRepeatable } satisfies FailedFiles));
}

/** Notes that something besides a test failed, such as a frame that the schema does not allow. */
export function noteOtherFailure(): void {
  if (TAU_FAILED_FILES !== undefined) rmSync(TAU_FAILED_FILES, { force: true });
}

/** What {@link noteFailedFiles} noted; nothing to repeat when the run ended without a note. */
export function readFailedFiles(list: string): FailedFiles {
  try {
    return JSON.parse(readFileSync(list, "utf8"));
  } catch {
    return { files: [], isRepeatable: false };
  }
}

/** Its values come by chance: a second try would have others. */
function breaksProperty(module: TestModule): boolean {
  const errors = [...module.children.allTests("failed")].flatMap((test) => test.result().errors);
  return errors.some((error) => error?.message.startsWith("Property failed after"));
}
