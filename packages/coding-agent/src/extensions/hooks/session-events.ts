import { ExtensionError } from "../api/errors.ts";
import type { ExtensionEvent, ExtensionEventResult } from "../api/events.ts";
import { type ExtensionRunner, STOP } from "./runner.ts";

/** Events that an extension may cancel. */
type Cancellable =
  | "session_before_switch"
  | "session_before_fork"
  | "session_before_compact"
  | "session_before_tree";

/** The merged answers of all handlers; the first `cancel` ends the loop. */
export async function askBeforeSession<Name extends Cancellable>(
  runner: ExtensionRunner,
  event: ExtensionEvent<Name>,
): Promise<ExtensionEventResult<Name>> {
  let merged = {} as ExtensionEventResult<Name>;
  await runner.each(event.type as Name, () => event, {
    take: (result) => {
      refuseNonsense(result as object);
      const given = Object.entries(result as object).filter(([, value]) => value !== undefined);
      merged = { ...merged, ...Object.fromEntries(given) };
      return (merged as { cancel?: boolean }).cancel === true ? STOP : undefined;
    },
  });
  return merged;
}

/** Validates a summary, because other programs read it from the session's file. */
function refuseNonsense(result: { compaction?: unknown; summary?: unknown }): void {
  const { compaction, summary } = result;
  const problem =
    compaction !== undefined && !isCompaction(compaction)
      ? "compaction must have summary, firstKeptEntryId and tokensBefore"
      : summary !== undefined && !hasText(summary)
        ? "summary must have the text as summary"
        : undefined;
  if (problem !== undefined) throw new ExtensionError("handler_failed", `Ignored: ${problem}`);
}

function isCompaction(value: unknown): boolean {
  return (
    hasText(value) &&
    "firstKeptEntryId" in value &&
    typeof value.firstKeptEntryId === "string" &&
    "tokensBefore" in value &&
    typeof value.tokensBefore === "number"
  );
}

function hasText(value: unknown): value is { summary: string } {
  if (typeof value !== "object" || value === null) return false;
  return "summary" in value && typeof value.summary === "string";
}

/** Whether to trust the project, according to the first extension that decides. */
export async function askProjectTrust(
  runner: ExtensionRunner,
  cwd: string,
): Promise<{ readonly isTrusted: boolean; readonly remember: boolean } | undefined> {
  let answer: { isTrusted: boolean; remember: boolean } | undefined;
  await runner.each("project_trust", () => ({ type: "project_trust", cwd }), {
    take: ({ trusted, remember }) => {
      if (trusted !== "yes" && trusted !== "no") return undefined;
      answer = { isTrusted: trusted === "yes", remember: remember === true };
      return STOP;
    },
  });
  return answer;
}

/** Additional folders of skills and templates that extensions name. */
export async function askResources(
  runner: ExtensionRunner,
  event: { readonly cwd: string; readonly reason: "startup" | "reload" },
): Promise<{ readonly skillPaths: string[]; readonly promptPaths: string[] }> {
  const skillPaths: string[] = [];
  const promptPaths: string[] = [];
  await runner.each("resources_discover", () => ({ type: "resources_discover", ...event }), {
    take: (result) => {
      skillPaths.push(...textsIn(result.skillPaths));
      promptPaths.push(...textsIn(result.promptPaths));
      return undefined;
    },
  });
  return { skillPaths, promptPaths };
}

/** The strings in a value that should be a list of strings. */
function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
