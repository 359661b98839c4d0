import { describe } from "vitest";

/** How the title of a suite that did not run ends, around the reason. */
const notRun = { before: " [not run: ", after: "]" } as const;

/**
 * `describe` for tests of something that only the system can have, such as a server. Where `missing`
 * says that it is not there, and why, they are skipped, and the end of the run counts and names them.
 */
export function describeWith(missing: string | undefined) {
  return (title: string, tests: () => void): void => {
    const reason = missing === undefined ? "" : `${notRun.before}${missing}${notRun.after}`;
    describe.skipIf(missing !== undefined)(`${title}${reason}`, tests);
  };
}

/** Why the test of this full name did not run; undefined if {@link describeWith} did not skip it. */
export function reasonNotRun(fullName: string): string | undefined {
  const start = fullName.indexOf(notRun.before);
  if (start < 0) return undefined;
  const rest = fullName.slice(start + notRun.before.length);
  return rest.slice(0, rest.indexOf(notRun.after));
}
