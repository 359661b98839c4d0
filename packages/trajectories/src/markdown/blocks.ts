/** A text from a session file, whose values may have any type. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text as a code block, with a fence longer than any in the text. */
export function fenced(given: string, language = ""): string {
  const text = textOf(given);
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** A word as inline code, on one line. */
export function inline(text: string): string {
  const line = textOf(text).replace(/\s+/g, " ");
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${fence}${space}${line}${space}${fence}`;
}

export function quoted(text: string): string {
  return textOf(text).replace(/^/gm, "> ");
}

/** A collapsible section; readers without HTML see the title and the text. */
export function details(title: string, text: string): string {
  return `<details><summary>${titleHtml(title)}</summary>\n\n${text}\n\n</details>`;
}

/** Markdown is not rendered inside a summary. */
function titleHtml(title: string): string {
  const escaped = title.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return escaped.replace(/`+ ?(.*?) ?`+/g, "<code>$1</code>");
}

const fenceLine = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Closes a code block that a text leaves open, which would swallow the following text. */
export function closeFences(text: string): string {
  let open: string | undefined;
  for (const line of text.split("\n")) {
    const [, run = "", rest = ""] = fenceLine.exec(line) ?? [];
    if (run === "") continue;
    if (open === undefined) {
      if (run.startsWith("~") || !rest.includes("`")) open = run;
    } else if (run.startsWith(open) && rest.trim() === "") {
      open = undefined;
    }
  }
  return open === undefined ? text : `${text.replace(/\n$/, "")}\n${open}`;
}
