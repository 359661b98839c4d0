import { escapeText, type Html, html, trusted } from "./html.ts";
import { codeBlock } from "./markdown.ts";

/** Lines of a change that are shown while it is folded. */
const shownLines = 60;

/** A change as coloured lines, and the numbers of added and removed lines. */
export interface ShownDiff {
  readonly block: Html;
  readonly added: number;
  readonly removed: number;
}

/** `+3 −1`. */
export function diffCounts({ added, removed }: Pick<ShownDiff, "added" | "removed">): Html {
  return html`<span class="plus">+${added}</span> <span class="minus">−${removed}</span>`;
}

type Kind = "ins" | "del" | "b" | "same";

/** Renders a diff whose lines begin with their sign; lines before the first `@@`, if any, are headings. */
export function renderDiff(diff: string): ShownDiff {
  const lines = diff.replace(/\n$/, "").split("\n");
  const kinds = kindsOf(lines);
  const rest = lines.slice(shownLines);
  const head = diffBlock(lines.slice(0, shownLines), kinds, rest.length > 0 ? "diff cut" : "diff");
  const hidden =
    rest.length > 0 &&
    html`<details class="rest"><summary>${rest.length} more ${rest.length === 1 ? "line" : "lines"}</summary>${diffBlock(rest, kinds.slice(shownLines))}</details>`;
  return {
    block: html`${head}${hidden}`,
    added: kinds.filter((kind) => kind === "ins").length,
    removed: kinds.filter((kind) => kind === "del").length,
  };
}

function kindsOf(lines: readonly string[]): Kind[] {
  const firstHunk = lines.findIndex((line) => line.startsWith("@@"));
  return lines.map((line, index) => {
    if (index < firstHunk || line.startsWith("@@")) return "b";
    if (line.startsWith("+")) return "ins";
    return line.startsWith("-") ? "del" : "same";
  });
}

/** Short elements: most of a diff's lines are coloured. */
function diffBlock(lines: readonly string[], kinds: readonly Kind[], name = "diff"): Html {
  const parts: string[] = [];
  let previous: Kind = "b";
  for (const [index, line] of lines.entries()) {
    const kind = kinds[index] ?? "same";
    const shown = escapeText(line === "" ? " " : line).text;
    // A coloured line is a block element, so a line break is needed only between two plain lines.
    if (kind === "same") parts.push(previous === "same" ? `\n${shown}` : shown);
    else parts.push(`<${kind}>${shown}</${kind}>`);
    previous = kind;
  }
  return codeBlock(trusted(parts.join("")), `code ${name}`);
}
