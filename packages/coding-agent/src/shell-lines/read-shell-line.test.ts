import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commandsThatBashRuns } from "./__fixtures__/run-in-bash.ts";
import { shellLines } from "./__fixtures__/shell-lines.ts";
import type { ShellPart } from "./line/shell-line.ts";
import { readShellLine } from "./read-shell-line.ts";

function shown(part: ShellPart): string {
  if (part.kind === "write") return `write: ${part.path}`;
  return part.isWrapper ? `wrapper: ${part.text}` : part.text;
}

describe.each(Object.entries(shellLines))("%s", (_, rows) => {
  it.each(rows)("reads $line", async ({ line, parts, reason }) => {
    const read = await readShellLine(line);
    expect(read.parts.map(shown)).toEqual(parts);
    expect(read).toMatchObject(
      reason === undefined ? { understood: true } : { understood: false, reason },
    );
  });
});

it("gives the name of a command apart from its words", async () => {
  const { parts } = await readShellLine("'/opt/my tools/rm' -r x");
  expect(parts).toEqual([
    { kind: "command", text: "/opt/my tools/rm -r x", name: "/opt/my tools/rm" },
  ]);
});

it.each([
  ["a null character", "ls\0; rm x", "it holds a null character"],
  ["a megabyte", `echo ${"x".repeat(1_000_000)}`, "it is too long"],
  ["shells in shells", nestedShells(9), "it nests too many shells"],
  ["a hundred thousand wrappers", "env ".repeat(100_000) + "rm x", "it nests too many commands"],
  ["a deep tree", "(".repeat(5000) + "rm x" + ")".repeat(5000), "it does not parse"],
])("gives up on %s", async (_, line, reason) => {
  expect(await readShellLine(line)).toMatchObject({ understood: false, reason });
});

function nestedShells(depth: number): string {
  return depth === 0 ? "rm x" : `sh -c '${nestedShells(depth - 1).replaceAll("'", "'\\''")}'`;
}

/** A word in one of the ways to write it. */
const word = fc
  .tuple(fc.constantFrom("git", "status", "-x", "a b", "it's", "$HOME", "~", "*", "a=1"), fc.nat(3))
  .map(([text, way]) => quoted(text, way));

function quoted(text: string, way: number): string {
  switch (way) {
    case 0:
      return `'${text.replaceAll("'", "'\\''")}'`;
    case 1:
      return `"${text.replaceAll("$", "\\$")}"`;
    case 2:
      return `$'${text.replaceAll("'", "\\'")}'`;
    default:
      return text.replace(/[^\w-]/g, "\\$&");
  }
}

const name = fc.constantFrom("one", "t'w'o", '"three"', "\\four", "$'fi\\x76e'", "FOO=1 six");
const command = fc
  .tuple(name, fc.array(word, { maxLength: 3 }))
  .map(([first, rest]) => [first, ...rest].join(" "));

const { line } = fc.letrec<{ line: string }>((tie) => ({
  line: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    command,
    fc
      .tuple(tie("line"), fc.constantFrom(";", "&&", "||", "|", "\n"), tie("line"))
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    tie("line").map((inner) => `( ${inner} )`),
    tie("line").map((inner) => `{ ${inner}\n}`),
    fc
      .tuple(tie("line"), tie("line"), tie("line"))
      .map(([first, second, third]) => `if ${first}\nthen ${second}\nelse ${third}\nfi`),
    tie("line").map((inner) => `case a in b) x;; *) ${inner}\nesac`),
    tie("line").map((inner) => `for x in 1 2; do ${inner}\ndone`),
    tie("line").map((inner) => `f() { ${inner}\n}; f`),
    tie("line").map((inner) => `bash -c ${quoted(inner, 0)}`),
    tie("line").map((inner) => `eval ${quoted(inner, 0)}`),
    tie("line").map((inner) => `${inner} <<'END'\nrm x\nEND`),
    command.map((inner) => `env A=1 command ${inner.replace("FOO=1 ", "")}`),
  ),
}));

it("finds every command that bash runs", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (lines) => {
      const ran = commandsThatBashRuns(lines);
      for (const [index, one] of lines.entries()) {
        const read = await readShellLine(one);
        if (!read.understood) continue;
        const known = new Set(read.parts.map((part) => (part.kind === "command" ? part.text : "")));
        for (const text of ran[index] ?? []) expect(known).toContain(text);
      }
    }),
    { numRuns: 25 },
  );
});

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
