import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shellLines } from "./__fixtures__/shell-lines.ts";
import type { ShellPart } from "./line/shell-line.ts";
import { readShellLine } from "./read-shell-line.ts";

function shown(part: ShellPart): string {
  if (part.kind === "write") return `write: ${part.path}`;
  return part.isWrapper ? `wrapper: ${part.text}` : part.text;
}

describe.each(Object.entries(shellLines))("%s", (_, rows) => {
  it.each(rows)("reads $line", async (row) => {
    const read = await readShellLine(row.line);
    if ("reason" in row) {
      expect(read).toMatchObject({ understood: false, reason: row.reason });
    } else {
      expect(read.understood && read.parts.map(shown)).toEqual(row.parts);
    }
  });
});

it("returns the name of a command separately from its words", async () => {
  expect(await readShellLine("/opt/tools/rm -r 'x y'")).toMatchObject({
    parts: [{ kind: "command", text: "/opt/tools/rm -r x y", name: "/opt/tools/rm" }],
  });
});

it.each([
  ["a null character", "ls\0; rm x", "it holds a null character"],
  ["a megabyte", `echo ${"x".repeat(1_000_000)}`, "it is too long"],
  ["shells in shells", nestedShells(9), "it nests too many shells"],
  ["a hundred thousand wrappers", "env ".repeat(100_000) + "rm x", "it nests too many commands"],
  ["a deep tree", "(".repeat(5000) + "rm x" + ")".repeat(5000), "it has parentheses"],
])("gives up on %s", async (_, line, reason) => {
  expect(await readShellLine(line)).toMatchObject({ understood: false, reason });
});

function nestedShells(depth: number): string {
  return depth === 0 ? "rm x" : `sh -c '${nestedShells(depth - 1).replaceAll("'", "'\\''")}'`;
}

it("reads any text without failing", async () => {
  const pieces = fc.constantFrom(
    ..."$ ( ) { } [ ] ' \" ` ; & | < > \\ # = * ? ~ !".split(" "),
    ..."if then fi do done case esac in rm env sh -c xargs find -exec EOF << ${ $(( \n".split(" "),
    " ",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), async (parts) => {
      const read = await readShellLine(parts.join(""));
      expect(read.understood ? "" : read.reason).toBeTypeOf("string");
    }),
    { numRuns: 2000 },
  );
});
