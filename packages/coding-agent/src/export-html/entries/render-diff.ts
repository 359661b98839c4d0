import { isJsonObject } from "../../base/files/read-json.ts";
import { diffLines } from "../../tools/common/diff.ts";
import { type Html, html, trusted } from "../text/html.ts";
import { countLines } from "./facts.ts";
import { foldable } from "./render-parts.ts";

const openLines = 120;

/** The change that an edit made: from its result, otherwise derived from its arguments. */
export async function renderEdit(
  parameters: Readonly<Record<string, unknown>>,
  details: unknown,
): Promise<Html | undefined> {
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

/** A diff whose lines begin with their sign. */
function renderDiff(diff: string): Html {
  const counts = { add: 0, del: 0 };
  const lines = diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const kind = kindOf(line);
      if (kind === "add" || kind === "del") counts[kind] += 1;
      return html`<span class="${kind}">${line === "" ? " " : line}</span>`.text;
    });
  const title = html`Change · <span class="plus">+${counts.add}</span> <span class="minus">−${counts.del}</span>`;
  const block = html`<pre class="code diff"><code>${trusted(lines.join(""))}</code></pre>`;
  return foldable(title, block, countLines(diff) <= openLines);
}

function kindOf(line: string): "add" | "del" | "hunk" | "same" {
  if (/^(?:@@|--- |\+\+\+ |diff |index )/.test(line)) return "hunk";
  if (line.startsWith("+")) return "add";
  return line.startsWith("-") ? "del" : "same";
}
