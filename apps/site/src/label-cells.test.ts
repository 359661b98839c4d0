import { createMarkdownRenderer } from "vitepress";
import { expect, it } from "vitest";
import { labelCells } from "./label-cells.ts";

it("gives each cell the name of its column, for screens too narrow for columns", async () => {
  const markdown = await createMarkdownRenderer(import.meta.dirname, { config: labelCells });
  const html = markdown.render(
    "| Key | The `type` |\n| --- | --- |\n| `a` | text |\n| b | |\n\n| | X |\n| --- | --- |\n| c | d |\n",
  );
  const cells = [...html.matchAll(/<td[^>]*data-label="([^"]*)"[^>]*>(.*?)<\/td>/g)];
  expect(cells.map(([, label, text]) => [label, text])).toEqual([
    ["Key", expect.stringContaining("a")],
    ["The type", "text"],
    ["Key", "b"],
    ["The type", ""],
    ["", "c"],
    ["X", "d"],
  ]);
});
