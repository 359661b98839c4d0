import { describe } from "vitest";

/** The suffix, around the reason, of a suite's title if the suite did not run. */
const notRun = { before: " [not run: ", after: "]" } as const;

/**
 * `describe` for tests that depend on something only the system can provide, such as a server. If `missing` gives a
 * reason why it is not available, the tests are skipped, and the end of the run counts and names them.
 */
export function describeWith(missing: string | undefined) {
  return (title: string, tests: () => void): void => {
    const reason = missing === undefined ? "" : `${notRun.before}${missing}${notRun.after}`;
    describe.skipIf(missing !== undefined)(`${title}${reason}`, tests);
  };
}

/** Why the test with this full name did not run; undefined if {@link describeWith} did not skip it. */
export function reasonNotRun(fullName: string): string | undefined {
  const start = fullName.indexOf(notRun.before);
  if (start < 0) return undefined;
  const rest = fullName.slice(start + notRun.before.length);
  return rest.slice(0, rest.indexOf(notRun.after));
}
