import type { Workspace, WorkspaceDescription } from "@tau-agent/rpc-protocol/workspace";
import { mapSome } from "../../base/map-some.ts";
import { randomHex } from "../../base/random.ts";
import { endsWithin, reasonOf, runCheck } from "../../base/run-check.ts";
import { Bench, type Check } from "./bench.ts";
import { callChecks } from "./call-checks.ts";
import { commandChecks } from "./command-checks.ts";
import { endingChecks } from "./ending-checks.ts";
import { fileChecks } from "./file-checks.ts";
import { placeChecks } from "./place-checks.ts";
import { searchChecks } from "./search-checks.ts";
import { statChecks } from "./stat-checks.ts";

/** The result of one check. */
export interface WorkspaceConformanceResult {
  /** The rule of the interface that was checked. */
  readonly name: string;
  /** Whether the rule holds, or the workspace declares in `limited` that it does not. */
  readonly ok: boolean;
  /** How the workspace broke the rule. */
  readonly reason?: string;
  /** The value of `limited` that excuses a failed check. */
  readonly limited?: string;
}

/** The results of all checks. */
export interface WorkspaceConformanceReport {
  readonly results: WorkspaceConformanceResult[];
}

// The slowest checks first.
const checks: readonly Check[] = [
  ...endingChecks,
  ...commandChecks,
  ...fileChecks,
  ...statChecks,
  ...placeChecks,
  ...callChecks,
  ...searchChecks,
];
/** A few at a time: others can use the time that one spends waiting. */
const CONCURRENCY = 6;

/** How long checks may take, whatever the workspace does. */
export interface WorkspaceCheckLimits {
  readonly callMs: number;
  readonly checkMs: number;
  readonly totalMs: number;
}

/** Less than a minute, including the waits at the end. */
export const defaultLimits: WorkspaceCheckLimits = {
  callMs: 4_000,
  checkMs: 20_000,
  totalMs: 38_000,
};

/**
 * Checks a workspace against the rules of its interface. It works in a separate folder in `temporaryDirectory`,
 * which it removes. It needs no test framework, never rejects, and ends within 60 seconds, even if a call of the
 * workspace never ends.
 *
 * @example const { results } = await runWorkspaceConformance(myWorkspace); const broken = results.filter(({ ok })
 * => !ok);
 */
export function runWorkspaceConformance(workspace: Workspace): Promise<WorkspaceConformanceReport> {
  return runChecks(workspace);
}

/** Runs the checks that `choose` selects; never rejects, and ends in time. */
export async function runChecks(
  workspace: Workspace,
  { callMs, checkMs, totalMs }: WorkspaceCheckLimits = defaultLimits,
  choose: (name: string) => boolean = () => true,
): Promise<WorkspaceConformanceReport> {
  const deadline = performance.now() + totalMs;
  const chosen = checks.filter(({ name }) => choose(name));
  let place: { readonly description: WorkspaceDescription; readonly folder: string };
  try {
    place = await endsWithin(callMs, () => prepare(workspace));
  } catch (error) {
    const reason = `describe() or createDirectory(): ${reasonOf(error)}`;
    return { results: chosen.map(({ name }) => ({ name, ok: false, reason })) };
  }
  const { description, folder } = place;
  const results = await mapSome(chosen, CONCURRENCY, (check, index) => {
    const bench = new Bench(workspace, description, `${folder}/${index}`);
    return checkSentence(check, bench, Math.min(checkMs, deadline - performance.now()));
  });
  await cleanUp(workspace, folder, Math.min(callMs, 2_500));
  return { results };
}

async function prepare(
  workspace: Workspace,
): Promise<{ description: WorkspaceDescription; folder: string }> {
  const description = await workspace.describe();
  const folder = `${description.temporaryDirectory}/tau-conformance-${randomHex(8)}`;
  await workspace.createDirectory(folder);
  return { description, folder };
}

async function checkSentence(
  { name, limits = [], run }: Check,
  bench: Bench,
  limitMs: number,
): Promise<WorkspaceConformanceResult> {
  const result = await runCheck(name, limitMs, async () => {
    await bench.workspace.createDirectory(bench.folder);
    await run(bench);
  });
  await bench.stop().catch(() => undefined);
  const limited = limits.find((word) => bench.description.limited.includes(word));
  return result.ok || limited === undefined ? result : { ...result, ok: true, limited };
}

/** Removes the folder; if the workspace's call fails, with a command. */
async function cleanUp(workspace: Workspace, folder: string, limitMs: number): Promise<void> {
  const isGone = async () =>
    (await endsWithin(limitMs, () => workspace.stat(folder, { followLinks: false }))) === undefined;
  const tries = [
    () => workspace.remove(folder, { recursive: true }),
    async () => {
      const command = ["sh", "-c", 'chmod -R u+rwx "$1"; rm -rf "$1"', "sh", folder];
      await (await workspace.spawn({ command, onOutput: () => undefined })).done;
    },
    // A command may still have been writing.
    () => workspace.remove(folder, { recursive: true }),
  ];
  for (const remove of tries) {
    try {
      await endsWithin(limitMs, remove);
    } catch {
      // The next way may succeed.
    }
    if (await isGone().catch(() => false)) return;
  }
}
