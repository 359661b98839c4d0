import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { TestModule } from "vitest/node";

/** The files of a run that contain a failed test. */
export interface FailedFiles {
  /** Relative to the repository. */
  readonly files: readonly string[];
  /** Whether a repetition is meaningful: not after a failed property, nor after a failure outside of tests. */
  readonly isRepeatable: boolean;
}

/** The file from which the test command reads the failed files. */
const { TAU_FAILED_FILES } = process.env;

/** Records which files failed, for {@link readFailedFiles} in the process that started this run. */
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

/** Records that something besides a test failed, such as a frame that violates the schema. */
export function noteOtherFailure(): void {
  if (TAU_FAILED_FILES !== undefined) rmSync(TAU_FAILED_FILES, { force: true });
}

/** The record of {@link noteFailedFiles}; not repeatable if the run ended without one. */
export function readFailedFiles(list: string): FailedFiles {
  try {
    return JSON.parse(readFileSync(list, "utf8"));
  } catch {
    return { files: [], isRepeatable: false };
  }
}

/** A property uses random values: a repetition would use other ones. */
function breaksProperty(module: TestModule): boolean {
  const errors = [...module.children.allTests("failed")].flatMap((test) => test.result().errors);
  return errors.some((error) => error?.message.startsWith("Property failed after"));
}
