import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { runEditTool } from "./edit.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

async function edited(content: string, oldText: string, newText: string) {
  workspace.write({ "f.txt": content });
  const args = { path: "f.txt", oldText, newText };
  const result = await runEditTool(args, workspace.environment(), toolCall());
  return { file: workspace.read("f.txt"), text: textOf(result) };
}

interface Row {
  readonly title: string;
  readonly content: string;
  readonly oldText: string;
  readonly newText: string;
  readonly file: string;
  readonly says: string;
}

const rows: readonly Row[] = [
  {
    title: "spaces for the file's tabs, with new lines one level deeper",
    content: "a:\n\tif x:\n\t\ty()\nb\n",
    oldText: "    if x:\n        y()",
    newText: "    if x:\n        if z:\n            y()\n        w()",
    file: "a:\n\tif x:\n\t\tif z:\n\t\t\ty()\n\t\tw()\nb\n",
    says: "indentation (tabs or spaces)",
  },
  {
    title: "tabs for the file's spaces",
    content: "{\n  a();\n  b();\n}\n",
    oldText: "\ta();\n\tb();",
    newText: "\ta();\n\tif (c) {\n\t\tb();\n\t}",
    file: "{\n  a();\n  if (c) {\n    b();\n  }\n}\n",
    says: "indentation (tabs or spaces)",
  },
  {
    title: "a block without its own indentation",
    content: "class A:\n    def f(self):\n        return 1\n",
    oldText: "def f(self):\n    return 1",
    newText: "def f(self):\n    x = 2\n    return x",
    file: "class A:\n    def f(self):\n        x = 2\n        return x\n",
    says: "indentation",
  },
  {
    title: "another width of blanks between words",
    content: "int  a\t= 1; // one\nint b = 2;\n",
    oldText: "int a = 1;",
    newText: "int a = 3;",
    file: "int  a\t= 3; // one\nint b = 2;\n",
    says: "blanks between words",
  },
  {
    title: "the other kind of straight quotes",
    content: 'x = "a" + "b"  # sum\n',
    oldText: "x = 'a' + 'b'",
    newText: "x = 'a' + 'c'",
    file: 'x = "a" + "c"  # sum\n',
    says: "the kind of quotes",
  },
  {
    title: "curly quotes and a dash, which stay where the model changed nothing",
    content: "// “first” – it’s here: 1  \nnext\n",
    oldText: '// "first" - it\'s here: 1\nnext',
    newText: '// "first" - it\'s here: 2\nnext',
    file: "// “first” – it’s here: 2  \nnext\n",
    says: "curly quotes, dashes, spaces or other special characters and blanks at line ends",
  },
  {
    title: "line breaks written as \\n",
    content: "one\ntwo\nthree\n",
    oldText: "one\\ntwo",
    newText: "one\\n2",
    file: "one\n2\nthree\n",
    says: "escaped twice",
  },
  {
    title: "line breaks written as \\n beside escapes that the file has",
    content: 'a = "\\"q\\""\nb = 1\n',
    oldText: 'a = "\\"q\\""\\nb = 1',
    newText: 'a = "\\"q\\""\\nb = 2',
    file: 'a = "\\"q\\""\nb = 2\n',
    says: "was read as a line break",
  },
  {
    title: "text that was escaped twice, with \\n inside a string",
    content: 'print("a\\n")\nprint("b")\n',
    oldText: 'print(\\"a\\\\n\\")\\nprint(\\"b\\")',
    newText: 'print(\\"c\\\\n\\")\\nprint(\\"b\\")',
    file: 'print("c\\n")\nprint("b")\n',
    says: "escaped twice",
  },
  {
    title: "a line break for the \\n of a string",
    content: 'print("a\\nb")\n',
    oldText: 'print("a\nb")',
    newText: 'print("a\nc")',
    file: 'print("a\\nc")\n',
    says: "the file has \\n where oldText has line breaks",
  },
];

describe("a text that does not match the file exactly", () => {
  it.each(rows)("is found despite $title", async (row) => {
    const { file, text } = await edited(row.content, row.oldText, row.newText);
    expect(file).toBe(row.file);
    expect(text).toContain("oldText was not an exact match: ");
    expect(text).toContain(row.says);
  });

  it("never takes precedence over an exact match", async () => {
    const { file, text } = await edited("\tx\n    x\n", "    x", "    y");
    expect(file).toBe("\tx\n    y\n");
    expect(text).toBe("Successfully replaced text in f.txt.");
  });

  it.each([
    ["in two places", "\tx = 1\nb\n  x = 1\n", "    x = 1", "Found 2 occurrences"],
    [
      "where blocks differ",
      "if a:\n    b()\n    c()\n",
      "if a:\n\tb()\nc()",
      "Could not find the exact text in f.txt",
    ],
    ["in the middle of a line", "a = f(x)\n", "    f(x)\n", "Could not find the exact text"],
    ["with other words", "let a = 1;\n", "let b = 1;", "Could not find the exact text"],
  ])("is refused %s", async (_, content, oldText, says) => {
    await expect(edited(content, oldText, "new")).rejects.toThrow(says);
    expect(workspace.read("f.txt")).toBe(content);
  });

  it("changes only what the model changed, whatever the file's spaces and quotes", async () => {
    const word = fc.constantFrom("alpha", "“b”", "it’s", "=", "(x)", "–");
    const blank = fc.constantFrom(" ", "  ", "\t", " \t");
    const line = fc
      .tuple(fc.array(fc.tuple(blank, word), { minLength: 1, maxLength: 4 }), blank)
      .map(([words, end]) => `\t${words.flat().join("").trim()}${end}`);
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        async (lines, n) => {
          const at = n % lines.length;
          const content = [...lines.slice(0, at), "\tkey = one ;", ...lines.slice(at)].join("\n");
          // A typical copy by a model: plain quotes and dashes, normal spaces, no trailing spaces.
          const copied = content
            .split("\n")
            .map((text) => `    ${text.trim().replace(/[ \t]+/g, " ")}`)
            .join("\n")
            .replace(/[“”]/g, '"')
            .replaceAll("’", "'")
            .replaceAll("–", "-");
          const { file } = await edited(content, copied, copied.replace("key = one", "key = two"));
          expect(file).toBe(content.replace("key = one", "key = two"));
        },
      ),
      { numRuns: 60 },
    );
  });
});
