import type { MarkdownRenderer } from "vitepress";

/** Gives each cell of a table the name of its column, which a narrow screen shows beside it. */
export function labelCells(markdown: Pick<MarkdownRenderer, "core">): void {
  markdown.core.ruler.push("label-cells", ({ tokens }) => {
    let names: string[] = [];
    let column = 0;
    for (const [at, token] of tokens.entries()) {
      if (token.type === "table_open") names = [];
      else if (token.type === "tr_open") column = 0;
      else if (token.type === "th_open") names.push(plainText(tokens[at + 1]));
      else if (token.type === "td_open") token.attrSet("data-label", names[column++] ?? "");
    }
  });
}

function plainText(token: { children: { content: string }[] | null } | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join("");
}
