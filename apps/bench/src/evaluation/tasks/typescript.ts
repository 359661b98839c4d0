import { changed, type EvaluationTask, edit, lines, readFile } from "../evaluation-task.ts";

const base = { language: "typescript", fileName: "module.ts" } as const;

const sum = lines(
  "export function sum(values: readonly number[]): number {",
  "  let total = 0;",
  "  for (const value of values) total += value;",
  "  return total;",
  "}",
);

const retry = lines(
  "export async function retry<T>(work: () => Promise<T>): Promise<T> {",
  "  for (let attempt = 0; ; attempt++) {",
  "    try {",
  "      return await work();",
  "    } catch (error) {",
  "      if (attempt === 2) throw error;",
  "    }",
  "  }",
  "}",
);

const twice = lines(
  "export function first(list: string[]): string {",
  "  if (list.length === 0) return 'none';",
  "  return list[0];",
  "}",
  "",
  "export function last(list: string[]): string {",
  "  if (list.length === 0) return 'none';",
  "  return list[list.length - 1];",
  "}",
);

const log = lines(
  "export function greet(name: string): void {",
  '  console.log("Hello,\\n" + name);',
  "}",
);

const quoted = lines(
  'import { join } from "node:path";',
  "",
  'export const home = join("/home", "user");',
  'export const mail = join(home, "mail");',
);

const note = lines("// The user’s “first” choice – kept as it is.", "export const choice = 1;");

export const typescriptTasks: readonly EvaluationTask[] = [
  {
    ...base,
    name: "ts-exact",
    form: "none",
    start: sum,
    expected: changed(sum, [["let total = 0;", "let total = 1;"]]),
    task: "In FILE, let the sum start at 1 instead of 0. Change nothing else.",
    scripted: [readFile, edit("let total = 0;", "let total = 1;")],
  },
  {
    ...base,
    name: "ts-foreign-names",
    form: "names of another host's tool and arguments",
    start: retry,
    expected: changed(retry, [["attempt === 2", "attempt === 4"]]),
    task: "In FILE, change the condition `attempt === 2` to `attempt === 4`. Change nothing else.",
    scripted: [
      { name: "Read", arguments: { file_path: "FILE" } },
      {
        name: "Edit",
        arguments: { file_path: "FILE", old_string: "attempt === 2", new_string: "attempt === 4" },
      },
    ],
  },
  {
    ...base,
    name: "ts-ambiguous",
    form: "a text that occurs twice, then with more lines around it",
    start: twice,
    expected: changed(twice, [
      [
        "  if (list.length === 0) return 'none';\n  return list[list.length - 1];",
        "  if (list.length === 0) return 'nothing';\n  return list[list.length - 1];",
      ],
    ]),
    task: "In FILE, let the function `last` (only that one) return 'nothing' for an empty list. Change nothing else.",
    scripted: [
      readFile,
      edit("return 'none';", "return 'nothing';", "refused"),
      edit(
        "return 'none';\n  return list[list.length - 1];",
        "return 'nothing';\n  return list[list.length - 1];",
      ),
    ],
  },
  {
    ...base,
    name: "ts-newline-in-string",
    form: "a real line break for the \\n of a string",
    start: log,
    expected: changed(log, [["Hello,", "Good day,"]]),
    task: 'In FILE, replace the word "Hello" in the string by "Good day". Change nothing else.',
    scripted: [
      readFile,
      edit('console.log("Hello,\n" + name);', 'console.log("Good day,\n" + name);', "loose"),
    ],
  },
  {
    ...base,
    name: "ts-other-quotes",
    form: "single quotes for the file's double quotes",
    start: quoted,
    expected: changed(quoted, [['"mail");', '"post");']]),
    task: 'In FILE, replace the string "mail" by "post". Keep the names of the constants, and change nothing else.',
    scripted: [
      readFile,
      edit(
        "export const mail = join(home, 'mail');",
        "export const mail = join(home, 'post');",
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "ts-curly-quotes",
    form: "plain quotes and dashes for typographic ones",
    start: note,
    expected: changed(note, [["choice = 1", "choice = 2"]]),
    task: "In FILE, set `choice` to 2. Keep the comment byte for byte.",
    scripted: [
      readFile,
      edit(
        '// The user\'s "first" choice - kept as it is.\nexport const choice = 1;',
        '// The user\'s "first" choice - kept as it is.\nexport const choice = 2;',
        "loose",
      ),
    ],
  },
];
