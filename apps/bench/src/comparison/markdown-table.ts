/** A Markdown table; the columns after the first `textColumns` contain numbers. */
export function markdownTable(
  [head = [], ...body]: readonly (readonly string[])[],
  textColumns: number,
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column < textColumns ? "---" : "---:"));
  return [head, rule, ...body].map(line).join("\n");
}
