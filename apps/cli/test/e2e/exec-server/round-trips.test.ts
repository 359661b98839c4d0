import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { nextLike } from "../../support/next-like.ts";
import { binPath, startHost } from "../../support/start-host.ts";
import { elsewhere } from "../../support/tool-suite.ts";

const relay = fileURLToPath(new URL("relay.mjs", import.meta.url));

/** How many times a request waited for the answer to an earlier one, according to a relay's log. */
function roundTrips(log: string): number {
  let count = 0;
  let isAnswered = true;
  for (const line of log.split("\n")) {
    if (line.startsWith("<")) isAnswered = true;
    else if (line.startsWith(">") && isAnswered && !line.includes('"method":"ping"')) {
      count += 1;
      isAnswered = false;
    }
  }
  return count;
}

const eight = Array.from({ length: 8 }, (_, index) => toolCall("read", { path: `file-${index}` }));

/** Calls, and the number of round trips that each may take after the first use. */
const calls: [string, number, ReturnType<typeof turn>["content"]][] = [
  ["read", 2, [toolCall("read", { path: "long.txt" })]],
  ["read of an image", 2, [toolCall("read", { path: "dot.png" })]],
  ["write", 2, [toolCall("write", { path: "new/deep/a.txt", content: "a" })]],
  ["edit", 2, [toolCall("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "one." }] })]],
  ["ls", 2, [toolCall("ls", { path: "." })]],
  ["bash", 2, [toolCall("bash", { command: "cat a.txt" })]],
  ["grep", 2, [toolCall("grep", { pattern: "const" })]],
  ["grep with context", 2, [toolCall("grep", { pattern: "const", context: 2, path: "sub" })]],
  ["find", 2, [toolCall("find", { pattern: "**/*.ts" })]],
  ["eight parallel reads", 2, eight],
  ["no call", 0, ["Nothing."]],
];

it("a call takes at most two round trips to an exec server, and a prompt takes none", async () => {
  const there = elsewhere();
  for (let index = 0; index < 8; index += 1) writeFileSync(join(there, `file-${index}`), "text");
  const folder = mkdtempSync(join(tmpdir(), "tau-trips-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const log = join(folder, "log");
  // With this delay, requests sent together arrive before the first answer even on a busy machine.
  const between = [process.execPath, relay, JSON.stringify({ delayMs: 100, log })];
  const command = [...between, process.execPath, binPath, "exec-server"];
  const play = ([, , content]: (typeof calls)[number]) => [
    turn(content as never),
    ...(content === undefined || typeof content[0] === "string" ? [] : [turn("Done.")]),
  ];
  const scenario = [...calls, ...calls].flatMap(play);
  const workspace = ["--workspace", JSON.stringify({ command, cwd: there })];
  const host = startHost({ scenario, arguments: workspace });
  const taken: [string, number][] = [];
  for (const [name] of [...calls, ...calls]) {
    const before = taken.length === 0 ? 0 : readFileSync(log).length;
    host.send({ id: "p", type: "prompt", message: "Go" });
    await nextLike(host, { type: "prompt_result", status: "completed" });
    host.send({ id: "s", type: "get_state" });
    await nextLike(host, { type: "response", id: "s" });
    taken.push([name, roundTrips(readFileSync(log).subarray(before).toString())]);
  }
  const late = taken.slice(calls.length);
  for (const [at, [name, most]] of calls.entries()) {
    expect(late[at]?.[1], name).toBeLessThanOrEqual(most);
  }
});
