import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { countShapes } from "../support/published-schema.ts";
import type { Outcome, Violation } from "./check-recordings.ts";

const repository = fileURLToPath(new URL("../../../..", import.meta.url));

/** Matches the source of test files that start hosts or parts of hosts that produce frames. */
const startsHosts =
  /\b(startHost|runHost|memoryHost|spawnHost|runProgram|conformance|createUiPort|encodeResponse)\(|new (RpcClient\(\{|EventEncoder\(|DeltaMerger\()/;

/** The maximum shown of a frame. */
const SHOWN_CHARACTERS = 2_000;

/** A test file of the run. */
export interface RanFile {
  readonly path: string;
  /** Whether all of its tests have run. */
  readonly isComplete: boolean;
}

/** The files whose tests start hosts but recorded nothing. */
export function silentFiles({ tests }: Outcome, files: readonly RanFile[]): string[] {
  const heard = new Set([...tests].map((test) => test.split(" > ", 1)[0]));
  return files
    .filter(({ path, isComplete }) => isComplete && startsHosts.test(readFileSync(path, "utf8")))
    .map(({ path }) => relative(repository, path))
    .filter((file) => !heard.has(file));
}

/** The text to print at the end of a run. */
export function describeOutcome(
  { violations, unrecorded, refusals, counts }: Outcome,
  silent: readonly string[],
): { summary: string; problems: string[] } {
  const parts = [...counts].toSorted().map(([kind, count]) => `   ${kind}: ${count}`);
  return {
    summary: [`Held against the schema, in ${countShapes()} shapes:`, ...parts].join("\n"),
    problems: [
      ...describeViolations(violations),
      ...unrecorded.map(
        ({ test, command }) =>
          `${test}\n  starts a host whose frames are not recorded; pass NODE_OPTIONS on to it:\n  ${command}`,
      ),
      ...refusals.map(
        ({ test, refusal }) =>
          `${test}\n  started a server that refused a request after the test's end:\n  ${JSON.stringify(refusal)}`,
      ),
      ...silent.map((file) => `${file}\n  has hosts, but no frame of them was recorded`),
    ],
  };
}

/** Each problem once, with the first test that has it. */
function describeViolations(violations: readonly Violation[]): string[] {
  const groups = new Map<string, Violation[]>();
  for (const violation of violations) {
    const [reason = ""] = violation.problem.split("\n", 1);
    groups.set(reason, [...(groups.get(reason) ?? []), violation]);
  }
  return [...groups.values()].map((group) => {
    const [{ test, from, problem }] = group as [Violation];
    const more = group.length === 1 ? "" : `\n  and ${group.length - 1} more like it`;
    return `${test}\n  ${from}\n  ${problem.slice(0, SHOWN_CHARACTERS)}${more}`;
  });
}
