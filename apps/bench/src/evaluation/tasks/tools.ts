import { fileURLToPath } from "node:url";
import { changed, type EvaluationTask, lines } from "../evaluation-task.ts";

const base = { language: "text", fileName: "answer.txt", start: "" } as const;

/** The MCP server with the tool that has to be found by a search. */
export const releaseServer = fileURLToPath(new URL("release-server.mjs", import.meta.url));

const write = (content: string) => ({
  name: "write",
  arguments: { path: "FILE", content: `${content}\n` },
});

const callTool = (name: string, input: object) => ({
  name: "call_tool",
  arguments: { name, arguments: input },
});

const long = lines(
  ...Array.from({ length: 4_000 }, (_, index) =>
    index === 3_210 ? "port = 8131" : `# option ${index} keeps its default value, see the manual`,
  ),
);

const steps = lines("name = draft", "state = open", "owner = nobody");

/**
 * Tasks that test the descriptions of tools: each needs a tool that a model calls only if its declaration is
 * clear enough.
 */
export const toolTasks: readonly EvaluationTask[] = [
  {
    ...base,
    name: "tool-job",
    form: "a program that goes on while other work is done",
    files: {
      "serve.sh": 'echo "token $((40 + 2))"; sleep 600\n',
    },
    expected: "42\n",
    task: "Run `sh FOLDER/serve.sh` in the background: it goes on for ten minutes. Write the number of the token that it prints into FILE, alone on a line, then kill the program.",
    uses: ["bash", "job_output", "job_kill"],
    scripted: [
      { name: "bash", arguments: { command: "sh FOLDER/serve.sh", background: true } },
      {
        ...callTool("job_output", { jobId: "{{1}}" }),
        after: "as (job-\\w+)",
      },
      write("42"),
      callTool("list_jobs", {}),
      { ...callTool("job_kill", { jobId: "{{1}}" }), after: "(job-\\w+)" },
    ],
  },
  {
    ...base,
    name: "tool-todo",
    form: "a list that is kept while the work goes on",
    start: steps,
    expected: changed(steps, [
      ["draft", "report"],
      ["open", "closed"],
      ["nobody", "ana"],
    ]),
    task: "Three things, one after the other, and keep a todo list of them: in FILE set `name` to `report`, then `state` to `closed`, then `owner` to `ana`. Change nothing else.",
    uses: ["todo_write"],
    scripted: [
      {
        name: "todo_write",
        arguments: {
          todos: [
            { content: "Set name", status: "in_progress" },
            { content: "Set state", status: "pending" },
            { content: "Set owner", status: "pending" },
          ],
        },
      },
      {
        name: "edit",
        arguments: {
          path: "FILE",
          edits: [
            { oldText: "draft", newText: "report" },
            { oldText: "open", newText: "closed" },
            { oldText: "nobody", newText: "ana" },
          ],
        },
      },
      {
        name: "todo_write",
        arguments: {
          todos: [
            { content: "Set name", status: "completed" },
            { content: "Set state", status: "completed" },
            { content: "Set owner", status: "completed" },
          ],
        },
      },
    ],
  },
  {
    ...base,
    name: "tool-late",
    form: "a tool that is declared by no request",
    expected: "halibut\n",
    task: "Which code name has release 4.2? No file has it. Write the name into FILE, alone on a line.",
    uses: ["tool_search", "mcp__releases__code_name"],
    scripted: [
      { name: "tool_search", arguments: { query: "code name of a release" } },
      callTool("mcp__releases__code_name", { version: "4.2" }),
      write("halibut"),
    ],
  },
  {
    ...base,
    name: "tool-search",
    form: "a line in one of many files",
    files: {
      "lib/first.conf": lines("# limits", "retries = 3"),
      "lib/deep/second.conf": lines("# limits", "retry_budget = 17"),
      "lib/deep/notes.md": lines("The retry_budget is set elsewhere."),
    },
    expected: "17\n",
    task: "Which number has `retry_budget` in the .conf files below FOLDER/lib? Find it with your search tools instead of the shell, and write it into FILE, alone on a line.",
    uses: ["grep"],
    scripted: [
      {
        name: "grep",
        arguments: { pattern: "retry_budget = ", path: "FOLDER/lib", glob: "*.conf" },
      },
      write("17"),
    ],
  },
  {
    ...base,
    name: "tool-find",
    form: "a file by its name",
    files: { "lib/a/kept.toml": lines("a = 1"), "lib/b/c/kept.yaml": lines("a: 1") },
    expected: "lib/b/c/kept.yaml\n",
    task: "Find the .yaml file below FOLDER with your tools for that instead of the shell, and write its path, seen from FOLDER and with slashes, into FILE, alone on a line.",
    uses: ["find"],
    scripted: [
      { name: "find", arguments: { pattern: "**/*.yaml", path: "FOLDER" } },
      write("lib/b/c/kept.yaml"),
    ],
  },
  {
    ...base,
    name: "tool-read",
    form: "what lies behind the part of a file that is shown first",
    files: { "long.conf": long },
    expected: "8131\n",
    task: "Read FOLDER/long.conf with your read tool until you find the line that sets `port`, and write the port into FILE, alone on a line.",
    uses: ["read"],
    scripted: [
      { name: "read", arguments: { path: "FOLDER/long.conf" } },
      { name: "read", arguments: { path: "FOLDER/long.conf", offset: 3_000, limit: 500 } },
      write("8131"),
    ],
  },
  {
    ...base,
    name: "tool-task",
    form: "work that a subagent does",
    files: { "one.txt": lines("The first word is amber.") },
    expected: "amber\n",
    task: "Let a subagent find out which word FOLDER/one.txt calls the first, and write what it answers into FILE, alone on a line. Do not read that file yourself.",
    uses: ["task"],
    scripted: [
      { name: "task", arguments: { task: "Which word does FOLDER/one.txt call the first?" } },
      write("amber"),
    ],
    subagents: { "call the first?": "The first word is amber." },
  },
];
