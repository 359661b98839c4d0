import { diffCounts, type Html, html, renderDiff } from "@tau-agent/markup";
import { foldable } from "./render-parts.ts";

/** Longer changes to a file start folded. */
const openLines = 60;

export function renderPatch(patch: string): Html {
  const files = patch.split(/^(?=diff --git )/m).filter((text) => text.trim() !== "");
  return html`${files.map(renderFile)}`;
}

function renderFile(text: string): Html {
  const name = fileName(text);
  if (/^(?:GIT binary patch|Binary files )/m.test(text)) {
    return html`<p class="note"><code>${name}</code> · binary</p>`;
  }
  const from = text.search(/^@@ /m);
  const how = changeKind(text.slice(0, from === -1 ? text.length : from));
  const { block, ...counts } = renderDiff(from === -1 ? "" : text.slice(from));
  const title = html`<code>${name}</code>${how !== "" && ` · ${how}`}`;
  if (from === -1) return html`<p class="note">${title}</p>`;
  const isShort = counts.added + counts.removed <= openLines;
  return foldable(html`${title} ${diffCounts(counts)}`, block, isShort, "file");
}

/** The name of the file after the change, or before it if the file was deleted. */
function fileName(text: string): string {
  const names = [
    /^\+\+\+ (?:b\/)?(.+?)\t?$/m,
    /^--- (?:a\/)?(.+?)\t?$/m,
    /^diff --git .* b\/(.+)$/m,
  ];
  for (const pattern of names) {
    const name = pattern.exec(text)?.[1];
    if (name !== undefined && name !== "/dev/null") return name;
  }
  return "file";
}

function changeKind(head: string): string {
  if (/^new file mode/m.test(head)) return "new";
  if (/^deleted file mode/m.test(head)) return "deleted";
  const before = /^rename from (.+)$/m.exec(head)?.[1];
  return before === undefined ? "" : `renamed from ${before}`;
}
