import { renderDiff, type ShownDiff } from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { diffLines } from "@tau-agent/system";

/** The change made by an edit: from its result, otherwise derived from its arguments. */
export async function renderEdit(
  parameters: Readonly<Record<string, unknown>>,
  details: unknown,
): Promise<ShownDiff | undefined> {
  const diff = recordedDiff(details) ?? (await requestedDiff(parameters));
  return diff === undefined ? undefined : renderDiff(diff);
}

function recordedDiff(details: unknown): string | undefined {
  if (!isJsonObject(details)) return undefined;
  const { diff, patch } = details;
  return [diff, patch].find((text): text is string => typeof text === "string" && text !== "");
}

async function requestedDiff(
  parameters: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const edits = Array.isArray(parameters.edits) ? parameters.edits : [parameters];
  const output: string[] = [];
  for (const edit of edits.filter(isJsonObject)) {
    const { oldText, newText } = edit;
    if (typeof oldText !== "string" || typeof newText !== "string") continue;
    if (output.length > 0) output.push(" …");
    for (const { kind, lines } of await diffLines(oldText.split("\n"), newText.split("\n"))) {
      const sign = kind === "same" ? " " : kind === "added" ? "+" : "-";
      for (const line of lines) output.push(sign + line);
    }
  }
  return output.length === 0 ? undefined : output.join("\n");
}
