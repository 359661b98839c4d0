import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeLine } from "@tau-agent/rpc-protocol/plain";
import type { ExportSource } from "../export-html.ts";
import { call, SessionBuilder } from "./session-builder.ts";

const taskPatch = `diff --git a/src/ledger.ts b/src/ledger.ts
index 07dd627..8db5508 100644
--- a/src/ledger.ts
+++ b/src/ledger.ts
@@ -19,7 +19,8 @@ export function balanceOf(entries: readonly Entry[]): number {
  */
 export function roundCents(amount: number): number {
-  return Math.floor(amount);
+  // Half a cent goes to the even one.
+  return halfToEven(amount);
 }
 
--- a line of SQL
diff --git a/CHANGES.md b/CHANGES.md
new file mode 100644
index 0000000..ef25b89
--- /dev/null
+++ b/CHANGES.md
@@ -0,0 +1,2 @@
+## Fixed
+- Rounding no longer loses a cent.
`;

/** The log of the check that failed at first: 24 lines. */
export const failedLog = Array.from({ length: 24 }, (_, line) =>
  line === 23 ? "✗ rounds half a cent to the even one" : `✓ test ${line + 1} of the ledger`,
).join("\n");

const report = `Both reports agree now. In cents:

| Month | Invoices | Sum | State |
|:------|---------:|----:|:-----:|
| September | 128 | 1 204 551 | closed |
| October | 97 | 988 020 | closed |
| November | 9 | 71 400 | open |

- [x] Rounding
- [ ] Archive

> المبلغ الإجمالي صحيح الآن.

The last line is for the customer: שלום, הסכום נכון עכשיו.

יתרת החשבון היא 1 204 551 אגורות.`;

const todos = (...statuses: string[]) => ({
  todos: [
    { content: "Find where the cent gets lost", status: statuses[0], phase: "Ledger" },
    { content: "Round half a cent to even", status: statuses[1], phase: "Ledger", activeForm: "Rounding half a cent to even" },
    { content: "Compare with last month's report", status: statuses[2], phase: "Reports", notes: "both currencies" },
    { content: "Rewrite the archive", status: statuses[3], phase: "Reports" },
  ],
});

const used = {
  inputTokens: 18_200,
  outputTokens: 2_140,
  cacheReadTokens: 91_000,
  cacheWriteTokens: 4_000,
  totalTokens: 115_340,
  costUsd: 0.1234,
  toolCalls: 11,
  subagents: 0,
};

function taskResult(folder: string) {
  const check = (attempt: number, exitCode: number) => ({
    attempt,
    status: exitCode === 0 ? "passed" : "failed",
    startedAt: 1_000_000,
    endedAt: 1_008_400,
    commandResults: [
      {
        name: "tests",
        command: "node --test",
        exitCode,
        durationMs: 8_300,
        artifactPath: join(folder, `ledger-verify-${attempt}-1-tests.log`),
        outputPreview: "only the end",
      },
    ],
  });
  return {
    id: "ledger",
    agent: "task",
    description: "Fix the rounding",
    status: "completed",
    exitCode: 0,
    output: "`roundCents` rounds **half to even** now.",
    isolated: true,
    patch: {
      filesChanged: 2,
      insertions: 4,
      deletions: 2,
      files: ["src/ledger.ts", "CHANGES.md"],
      status: "applied",
      path: join(folder, "ledger.patch"),
    },
    verification: {
      requested: true,
      mode: "command",
      status: "passed",
      retriesUsed: 1,
      attempts: [check(1, 1), check(2, 0)],
    },
    used,
    durationMs: 123_000,
  };
}

/**
 * A session with longer work: todos, a verified task and long output. Writes its file and those of
 * its task below `directory`.
 */
export function workSession(directory: string): ExportSource {
  const folder = join(directory, "work");
  const session = new SessionBuilder();
  const after = (seconds: number) => session.after(seconds);
  session.user("A cent gets lost between the ledger and the report. Find out why, and fix it in the ledger.");
  after(12);
  session.assistant([
    { type: "text", text: "I'll plan it, and look at the ledger's tests." },
    call("t1", "todo_write", todos("in_progress", "pending", "pending", "pending")),
    call("b1", "bash", { command: "npx vitest run src/ledger.test.ts --reporter verbose" }),
  ]);
  after(0.02);
  session.result("t1", "todo_write", { text: "0 of 4 done.", details: todos("in_progress", "pending", "pending", "pending") });
  after(42);
  session.result("b1", "bash", { text: Array.from({ length: 48 }, (_, line) => ` ✓ src/ledger.test.ts > case ${line + 1} ${"of the ledger ".repeat(line % 3)}`).join("\n") });
  after(31);
  session.assistant([
    { type: "text", text: "`roundCents` floors. A subagent fixes that in its own tree, checked by the tests." },
    call("k1", "task", { description: "Fix the rounding", task: "Make roundCents round half to even.\nKeep its signature.", isolated: true, verify: true }),
  ]);
  after(123);
  session.result("k1", "task", { text: "## ledger (task): completed", details: { results: [taskResult(folder)], used } });
  after(9);
  session.assistant([call("t2", "todo_write", todos("completed", "completed", "in_progress", "abandoned"))]);
  after(0.03);
  session.result("t2", "todo_write", { text: "2 of 4 done.", details: todos("completed", "completed", "in_progress", "abandoned") });
  after(4.2);
  session.assistant(report);
  after(90_000);
  session.user("وماذا عن الأرشيف؟");
  after(3);
  session.assistant("لن نعيد كتابة الأرشيف الآن. انظر `docs/archive.md`.", { model: "claude-opus-5" });
  const path = `${folder}.jsonl`;
  const source = session.source({ name: "The lost cent", path });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, [source.header, ...source.entries].map(encodeLine).join(""));
  writeFileSync(join(folder, "ledger.patch"), taskPatch);
  writeFileSync(join(folder, "ledger-verify-1-1-tests.log"), failedLog);
  writeFileSync(join(folder, "ledger-verify-2-1-tests.log"), failedLog.replace("✗", "✓"));
  return source;
}
