import { changed, type EvaluationTask, edit, lines, readFile } from "../evaluation-task.ts";

const base = { language: "go", fileName: "module.go" } as const;

const server = lines(
  "package server",
  "",
  'import "net/http"',
  "",
  "func Handle(w http.ResponseWriter, r *http.Request) {",
  '\tif r.Method != "GET" {',
  "\t\tw.WriteHeader(405)",
  "\t\treturn",
  "\t}",
  '\tw.Write([]byte("ok"))',
  "}",
);

const aligned = lines(
  "package config",
  "",
  "type Config struct {",
  "\tHost    string // where",
  "\tPort    int    // which",
  "\tTimeout int    // seconds",
  "}",
);

const loop = lines(
  "package list",
  "",
  "func Count(items []string) int {",
  "\tcount := 0",
  "\tfor _, item := range items {",
  '\t\tif item != "" {',
  "\t\t\tcount++",
  "\t\t}",
  "\t}",
  "\treturn count",
  "}",
);

const raw = lines("package sql", "", "const Query = `", "\tSELECT id", "\tFROM users", "`");

const errors = lines(
  "package store",
  "",
  'import "errors"',
  "",
  'var ErrMissing = errors.New("missing")',
  'var ErrClosed = errors.New("closed")',
);

const open = "package main\n\nfunc main() {\n\trun()\n}";

export const goTasks: readonly EvaluationTask[] = [
  {
    ...base,
    name: "go-tabs",
    form: "spaces for the file's tabs, in a block that becomes deeper",
    start: server,
    expected: changed(server, [
      [
        "\t\tw.WriteHeader(405)\n",
        '\t\tif r.Method != "HEAD" {\n\t\t\tw.WriteHeader(405)\n\t\t}\n',
      ],
    ]),
    task: 'In FILE, put the call `w.WriteHeader(405)` into a block `if r.Method != "HEAD" { … }` (three lines, formatted as gofmt does). Change nothing else.',
    scripted: [
      readFile,
      edit(
        '    if r.Method != "GET" {\n        w.WriteHeader(405)\n        return',
        '    if r.Method != "GET" {\n        if r.Method != "HEAD" {\n            w.WriteHeader(405)\n        }\n        return',
        "loose",
      ),
    ],
  },
  {
    ...base,
    name: "go-aligned",
    form: "one blank for the blanks that align columns",
    start: aligned,
    expected: changed(aligned, [["int    // seconds", "int    // milliseconds"]]),
    task: "In FILE, change the comment of `Timeout` to `// milliseconds`. Keep the alignment, and change nothing else.",
    scripted: [readFile, edit("Timeout int // seconds", "Timeout int // milliseconds", "loose")],
  },
  {
    ...base,
    name: "go-guessed",
    form: "a text from memory, then the real one",
    start: loop,
    expected: changed(loop, [["\t\t\tcount++\n", "\t\t\tcount += len(item)\n"]]),
    task: "In FILE, let each item that is not empty add `len(item)` to `count` (written `count += len(item)`) instead of 1. Change nothing else.",
    scripted: [
      edit(
        "for i := range items {\n\t\tcount++",
        "for i := range items {\n\t\tcount += len(item)",
        "refused",
      ),
      readFile,
      edit("\t\t\tcount++", "\t\t\tcount += len(item)"),
    ],
  },
  {
    ...base,
    name: "go-literal-newline",
    form: "\\n for the line breaks of the file",
    start: raw,
    expected: changed(raw, [["FROM users", "FROM accounts"]]),
    task: "In FILE, select from `accounts` instead of `users`. Change nothing else.",
    scripted: [
      readFile,
      edit("SELECT id\\n\\tFROM users", "SELECT id\\n\\tFROM accounts", "loose"),
    ],
  },
  {
    ...base,
    name: "go-multi-edit",
    form: "another host's tool for several edits",
    start: errors,
    expected: changed(errors, [
      ['errors.New("missing")', 'errors.New("store: missing")'],
      ['errors.New("closed")', 'errors.New("store: closed")'],
    ]),
    task: 'In FILE, let both error texts begin with "store: ". Change nothing else.',
    scripted: [
      readFile,
      {
        name: "MultiEdit",
        arguments: {
          file_path: "FILE",
          edits: [
            { old_string: '"missing"', new_string: '"store: missing"' },
            { old_string: '"closed"', new_string: '"store: closed"' },
          ],
        },
      },
    ],
  },
  {
    ...base,
    name: "go-no-last-newline",
    form: "a line break at the end that the file does not have",
    start: open,
    expected: changed(open, [["\trun()", "\tserve()"]]),
    task: "In FILE, call `serve()` instead of `run()`. The file has no line break at its end; leave it so, and change nothing else.",
    scripted: [
      readFile,
      edit("\trun()\n}\n", "\tserve()\n}\n", "refused"),
      edit("\trun()\n}", "\tserve()\n}"),
    ],
  },
];
