import { chmodSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { ToolError } from "@tau-agent/agent";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { editTool } from "./definition.ts";
import { type EditArguments, runEditTool } from "./edit.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

const edit = (args: Omit<EditArguments, "path"> & { path?: string }) =>
  runEditTool({ path: "f.txt", ...args }, workspace.environment(), toolCall());

async function edited(content: string, oldText: string, newText: string): Promise<string> {
  workspace.write({ "f.txt": content });
  await edit({ oldText, newText });
  return workspace.read("f.txt");
}

async function refusal(content: string | Uint8Array, args: Omit<EditArguments, "path">) {
  workspace.write({ "f.txt": content });
  const error = await edit(args).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ToolError);
  expect(readFileSync(workspace.path("f.txt"))).toEqual(Buffer.from(content));
  return (error as ToolError).message;
}

describe("one replacement", () => {
  it("changes the file and describes the change", async () => {
    workspace.write({ "f.txt": "one\ntwo\nthree\n" });
    const result = await edit({ oldText: "two", newText: "2" });
    expect(textOf(result)).toBe("Successfully replaced text in f.txt.");
    expect(result.details).toEqual({
      diff: " 1 one\n-2 two\n+2 2\n 3 three",
      firstChangedLine: 2,
      patch: "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
    });
    expect(workspace.read("f.txt")).toBe("one\n2\nthree\n");
  });

  it("describes only a part of a huge change", async () => {
    workspace.write({ "f.txt": "one\n" });
    const result = await edit({ oldText: "one", newText: "another line\n".repeat(200_000) });
    expect(result.details).toMatchObject({ truncation: { diffLines: expect.any(Number) } });
    expect(JSON.stringify(result.details).length).toBeLessThan(100_000);
  });

  it.each([
    ["keeps CR LF", "a\r\nb\r\nc\r\n", "a\nb", "a\nB\nnew", "a\r\nB\r\nnew\r\nc\r\n"],
    ["keeps lone CR", "a\rb\rc", "b\nc", "b\nd\nc", "a\rb\rd\rc"],
    ["keeps a BOM", "\uFEFFa\nb", "a\n", "x\n", "\uFEFFx\nb"],
    ["keeps mixed ends", "a\r\nb\nc\rd\n", "a\nb\nc\nd", "a\nB\nc\nD", "a\r\nB\nc\rD\n"],
    ["keeps a missing last newline", "a\nb", "b", "c", "a\nc"],
    ["deletes", "a\nb\nc\n", "b\n", "", "a\nc\n"],
    ["takes special replacement patterns as they are", "a", "a", "$& $1 $$", "$& $1 $$"],
    ["fills an empty file", "", "", "text\n", "text\n"],
    [
      "ignores blanks at line ends",
      "f() {  \n  x;\t\n}\n",
      "f() {\n  x;",
      "f() {\n  y;",
      "f() {  \n  y;\t\n}\n",
    ],
    ["ignores curly quotes", "say(“hi”) // it’s\nb", 'say("hi") // it\'s', "say()", "say()\nb"],
    ["ignores dashes and odd spaces", "a\u2013b\u00A0c", "a-b c", "d", "d"],
    ["ignores compatibility forms", "ｆｕｌｌ ﬁt", "full fit", "ok", "ok"],
  ])("%s", async (_title, content, oldText, newText, expected) => {
    expect(await edited(content, oldText, newText)).toBe(expected);
  });

  it("keeps the typography of unchanged lines", async () => {
    const content = "// “first”  \nvalue = 1\n// it’s last\n";
    const oldText = '// "first"\nvalue = 1\n// it\'s last';
    const newText = '// "first"\nvalue = 2\n// it\'s last';
    expect(await edited(content, oldText, newText)).toBe("// “first”  \nvalue = 2\n// it’s last\n");
  });

  it("leaves all bytes outside the change identical, with any line endings", async () => {
    const piece = fc.tuple(
      fc.constantFrom("alpha", "beta  ", "“q”", "", "\té", "x"),
      fc.constantFrom("\n", "\r\n", "\r"),
    );
    const part = fc.array(piece, { maxLength: 8 }).map((lines) => lines.flat().join(""));
    await fc.assert(
      fc.asyncProperty(part, part, fc.boolean(), async (before, after, isBom) => {
        const start = `${isBom ? "\uFEFF" : ""}${before}`;
        const kept = "keep me\r\n";
        const content = `${start}BEGIN one\n${kept}END two${after}`;
        const result = await edited(
          content,
          "BEGIN one\nkeep me\nEND two",
          "BEGIN 1\nkeep me\nEND 2",
        );
        expect(result).toBe(`${start}BEGIN 1\n${kept}END 2${after}`);
      }),
      { numRuns: 60 },
    );
  });

  it("keeps the file mode, and follows a link instead of replacing it", async () => {
    workspace.write({ "real.sh": "old" });
    chmodSync(workspace.path("real.sh"), 0o750);
    symlinkSync(workspace.path("real.sh"), workspace.path("f.txt"));
    await edit({ oldText: "old", newText: "new" });
    expect(workspace.read("real.sh")).toBe("new");
    expect(statSync(workspace.path("real.sh")).mode & 0o777).toBe(0o750);
  });
});

describe("several replacements", () => {
  it("are all looked up in the original text", async () => {
    workspace.write({ "f.txt": "a b c\n" });
    const edits = [
      { oldText: "c", newText: "a" },
      { oldText: "a", newText: "b2" },
    ];
    expect(textOf(await edit({ edits }))).toBe("Successfully replaced 2 block(s) in f.txt.");
    expect(workspace.read("f.txt")).toBe("b2 b a\n");
  });

  it("change nothing if one of them fails", async () => {
    const edits = [
      { oldText: "a", newText: "b" },
      { oldText: "nowhere", newText: "c" },
    ];
    expect(await refusal("a\n", { edits })).toContain("edits[1].oldText must match");
  });

  it("must not overlap", async () => {
    const edits = [
      { oldText: "bcd", newText: "1" },
      { oldText: "abc", newText: "2" },
    ];
    expect(await refusal("abcd", { edits })).toBe(
      "edits[1].oldText and edits[0].oldText overlap in f.txt. Join them into one edit.",
    );
  });

  it("are also accepted as JSON text or as a single object", () => {
    const one = { oldText: "a", newText: "b" };
    const expected = { path: "f", edits: [one] };
    expect(editTool.prepareArguments?.({ path: "f", edits: JSON.stringify([one]) })).toEqual(
      expected,
    );
    expect(editTool.prepareArguments?.({ path: "f", edits: one })).toEqual(expected);
    expect(editTool.prepareArguments?.({ path: "f", edits: JSON.stringify(one) })).toEqual(
      expected,
    );
    expect(editTool.prepareArguments?.({ path: "f", ...one, edits: "" })).toEqual({
      path: "f",
      ...one,
    });
    expect(editTool.prepareArguments?.({ path: "f", edits: "[{" })).toEqual({
      path: "f",
      edits: ["[{"],
    });
  });
});

describe("a refused edit", () => {
  it.each([
    ["const value = 1;\nlet x;", "const valeu = 1;", 'The closest is line 1: "const value = 1;".'],
    ["a\nb", "zzz\nyyy", "Read the file and copy the text from it."],
    ["aXa", "a", "Found 2 occurrences of oldText in f.txt. The text must be unique"],
    ["aaa", "aa", "Found 2 occurrences"],
    ["“a” “a”", '"a"', "Found 2 occurrences"],
    ["text", "", "oldText is empty, but f.txt is not"],
    ["text", "same", "Could not find the exact text in f.txt: oldText must match"],
    ["ﬁx", "ix", "Could not find the exact text in f.txt: oldText must match"],
  ])("explains, for content %j, why oldText %j is refused", async (content, oldText, expected) => {
    expect(await refusal(content, { oldText, newText: "new" })).toContain(expected);
  });

  it("leaves the file unchanged when nothing would change, or an argument is missing", async () => {
    expect(await refusal("a", { oldText: "a", newText: "a" })).toContain("identical");
    expect(await refusal("a", { oldText: "a" })).toContain("newText is missing");
    expect(await refusal("a", {})).toContain("Nothing to do");
  });

  it("leaves the file unchanged when it is not UTF-8", async () => {
    const message = await refusal(Buffer.from([0x61, 0xff, 0x62]), { oldText: "a", newText: "b" });
    expect(message).toContain("f.txt is not valid UTF-8");
  });

  it("says why when the file does not exist or is a directory", async () => {
    await expect(edit({ path: "none", oldText: "a", newText: "b" })).rejects.toThrow(
      "File not found: none. Check the path with ls or find.",
    );
    await expect(edit({ path: ".", oldText: "a", newText: "b" })).rejects.toThrow(
      ". is a directory, not a file.",
    );
  });
});

it("serialises edits of one file", async () => {
  workspace.write({ "f.txt": "0" });
  const environment = workspace.environment();
  const steps = Array.from({ length: 20 }, (_, index) =>
    runEditTool(
      { path: "f.txt", oldText: `${index}`, newText: `${index + 1}` },
      environment,
      toolCall(),
    ),
  );
  await Promise.all(steps);
  expect(workspace.read("f.txt")).toBe("20");
});
