import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The maximum length of a file. Biome's own rule counts a multi-line comment as one line. */
const MAX_LINES = 400;
/** For tests and files that are not published. */
const MAX_TEST_LINES = 600;

const isTest = /\.test\.ts$|\/test\/|^(?:docs\/examples|clients|apps\/bench|scripts)\//;

/** Generated files, test data, and files from others. */
const excluded = ["**/node_modules/**", "**/dist/**", "**/generated/**", "**/__fixtures__/**"];

/**
 * A message for every file that is too long.
 *
 * @throws {Error} if there are no files, because an empty check must not pass
 */
export function checkFileLengths(baseFolder: string): string[] {
  const paths = globSync("{apps,packages,clients,docs,scripts}/**/*.ts", {
    cwd: baseFolder,
    exclude: excluded,
  });
  if (paths.length === 0) throw new Error(`No TypeScript file was found in ${baseFolder}.`);
  return paths.toSorted().flatMap((path) => {
    const text = readFileSync(join(baseFolder, path), "utf8");
    const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    const limit = isTest.test(path) ? MAX_TEST_LINES : MAX_LINES;
    return lines > limit ? [`${path}: ${lines} lines; at most ${limit}. Split it.`] : [];
  });
}

if (import.meta.main) {
  const problems = checkFileLengths(fileURLToPath(new URL("..", import.meta.url)));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
