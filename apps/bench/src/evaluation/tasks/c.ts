import { changed, type EvaluationTask, edit, lines, readFile } from "../evaluation-task.ts";

const base = { language: "c", fileName: "module.c" } as const;

const buffer = lines(
  "#include <stdlib.h>",
  "",
  "char *make(size_t size)",
  "{",
  "\tchar *buffer = malloc(size);",
  "\treturn buffer;",
  "}",
);

const mixed = lines(
  "int sign(int value)",
  "{",
  "    if (value < 0)",
  "\treturn -1;",
  "    return value > 0;",
  "}",
);

const macro = lines("#define LOG(text) \\", "\tdo { \\", "\t\tputs(text); \\", "\t} while (0)");

const small = lines("int main(void)", "{", "\treturn 0;", "}");

const print = lines(
  "#include <stdio.h>",
  "",
  "void show(int count)",
  "{",
  '\tprintf("count:\\t%d\\n", count);',
  "}",
);

const bom = `\uFEFF${lines("static int level = 1;", "static int depth = 2;")}`;

export const cTasks: readonly EvaluationTask[] = [
  {
    ...base,
    name: "c-bash-first",
    form: "another host's shell tool, then the edit",
    start: buffer,
    expected: changed(buffer, [
      ["malloc(size);\n", "malloc(size);\n\tif (buffer == NULL)\n\t\tabort();\n"],
    ]),
    task: "In FILE, call `abort();` when `malloc` returned NULL: add two lines after the allocation, `if (buffer == NULL)` and the call, indented with tabs. Change nothing else.",
    scripted: [
      { name: "Bash", arguments: { command: "cat FILE" } },
      edit(
        "    char *buffer = malloc(size);",
        "    char *buffer = malloc(size);\n    if (buffer == NULL)\n        abort();",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "c-mixed-indentation",
    form: "spaces in a file that mixes tabs and spaces",
    start: mixed,
    expected: changed(mixed, [["\treturn -1;", "\treturn -2;"]]),
    task: "In FILE, return -2 instead of -1. Keep the mixed indentation of the file, and change nothing else.",
    scripted: [
      readFile,
      edit(
        "    if (value < 0)\n        return -1;",
        "    if (value < 0)\n        return -2;",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "c-macro",
    form: "blanks for the tabs of a macro with continued lines",
    start: macro,
    expected: changed(macro, [["puts(text);", "fputs(text, stderr);"]]),
    task: "In FILE, call `fputs(text, stderr);` instead of `puts(text);`. Change nothing else.",
    scripted: [
      readFile,
      edit(
        "    do { \\\n        puts(text); \\",
        "    do { \\\n        fputs(text, stderr); \\",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "c-rewritten",
    form: "the whole file written anew, by another host's names",
    start: small,
    expected: changed(small, [["return 0;", "return 1;"]]),
    task: "In FILE, let `main` return 1. Change nothing else.",
    scripted: [
      readFile,
      {
        name: "create_file",
        arguments: { file_path: "FILE", file_text: changed(small, [["return 0;", "return 1;"]]) },
      },
    ],
  },
  {
    ...base,
    name: "c-escapes-in-string",
    form: "\\n for a line break beside the escapes of a string",
    start: print,
    expected: changed(print, [["count:", "total:"]]),
    task: 'In FILE, print "total:" instead of "count:". Change nothing else.',
    scripted: [
      readFile,
      edit(
        '{\\n\\tprintf(\\"count:\\\\t%d\\\\n\\", count);',
        '{\\n\\tprintf(\\"total:\\\\t%d\\\\n\\", count);',
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "c-byte-order-mark",
    form: "a byte order mark, and numbers as text",
    start: bom,
    expected: changed(bom, [["depth = 2", "depth = 4"]]),
    task: "In FILE, set `depth` to 4. Keep the byte order mark at the start of the file, and change nothing else.",
    scripted: [
      { name: "read", arguments: { path: "FILE", offset: "1", limit: "20" } },
      edit(
        "static int level = 1;\nstatic int depth = 2;",
        "static int level = 1;\nstatic int depth = 4;",
      ),
    ],
  },
];
