import fc from "fast-check";
import { expect, it } from "vitest";
import { readOutput } from "./read-output.ts";

it.each([
  [
    "a.c:3:7: error: expected ';' before 'x'",
    { file: "a.c", line: 3, column: 7, severity: "error", message: "expected ';' before 'x'" },
  ],
  [
    "a.c:3:7: warning: unused variable [-Wunused]",
    {
      file: "a.c",
      line: 3,
      column: 7,
      severity: "warning",
      message: "unused variable",
      code: "-Wunused",
    },
  ],
  [
    "a.c:3: fatal error: stdio.h: No such file",
    { file: "a.c", line: 3, severity: "error", message: "stdio.h: No such file" },
  ],
  [
    "src/a.py:1:8: F401 [*] `os` imported but unused",
    { file: "src/a.py", line: 1, column: 8, message: "[*] `os` imported but unused", code: "F401" },
  ],
  [
    "a.sh:2:1: note: Use $(...) [SC2006]",
    {
      file: "a.sh",
      line: 2,
      column: 1,
      severity: "information",
      message: "Use $(...)",
      code: "SC2006",
    },
  ],
  [
    "a.py:3: error: Name x is not defined  [name-defined]",
    {
      file: "a.py",
      line: 3,
      severity: "error",
      message: "Name x is not defined",
      code: "name-defined",
    },
  ],
  [
    "C:\\src\\a.ts:1:2: error[E0308]: mismatched",
    {
      file: "C:\\src\\a.ts",
      line: 1,
      column: 2,
      severity: "error",
      message: "mismatched",
      code: "E0308",
    },
  ],
  [
    "\u001B[31ma.c:3:7: error: red\u001B[0m",
    { file: "a.c", line: 3, column: 7, severity: "error", message: "red" },
  ],
  [
    "/p/a.sh: line 3: syntax error: unexpected end of file",
    { file: "/p/a.sh", line: 3, message: "syntax error: unexpected end of file" },
  ],
  ["/bin/bash: line 1: no-such-linter: command not found", undefined],
  ["In file included from a.h", undefined],
  ["12 problems: none fixed", undefined],
])("reads %s", (line, problem) => {
  expect(readOutput(`noise\n${line}\r\n`, "gnu")).toEqual(problem === undefined ? [] : [problem]);
});

it("reads the output of tsc, both plain and in colour", () => {
  const problem = {
    file: "src/a b.ts",
    line: 3,
    column: 7,
    severity: "error",
    code: "TS2322",
    message: "Type 'x' is not: y",
  };
  expect(
    readOutput("src/a b.ts(3,7): error TS2322: Type 'x' is not: y\n  more about it", "tsc"),
  ).toEqual([problem]);
  expect(readOutput("src/a b.ts:3:7 - error TS2322: Type 'x' is not: y\n", "tsc")).toEqual([
    problem,
  ]);
  expect(readOutput("error TS18003: No inputs were found", "tsc")).toEqual([]);
});

it("reads JSON lines and ignores the rest", () => {
  const lines = [
    '{"file":"a","line":1,"message":"x"}',
    '{"file":"a","line":2,"column":3,"severity":"warn","message":"y\\nz","code":12}',
    '{"file":"a","message":"no line"}',
    '{"line":1,"message":"no file"}',
    "[1]",
    "{broken",
    "null",
  ];
  expect(readOutput(lines.join("\n"), "json-lines")).toEqual([
    { file: "a", line: 1, message: "x" },
    { file: "a", line: 2, column: 3, severity: "warning", message: "y z", code: "12" },
  ]);
});

it("reads any output without failing, and quickly", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 200 }),
      fc.constantFrom("gnu" as const, "tsc" as const, "json-lines" as const),
      (text, format) => {
        for (const { line, message } of readOutput(text, format)) {
          expect(line).toBeGreaterThan(0);
          expect(message).not.toMatch(/\n/);
        }
      },
    ),
  );
  expect(readOutput(`${"a:1".repeat(50_000)}\n${" ".repeat(50_000)}x`, "gnu").length).toBeLessThan(
    2,
  );
  expect(readOutput("(1,".repeat(50_000), "tsc")).toEqual([]);
});
