import { expect, it } from "vitest";
import { startHost } from "../support/start-host.ts";

const extension = `import { closeSync, openSync } from "node:fs";
const open = [];
export default (pi) => {
  pi.registerCommand("exhaust", {
    handler: async () => {
      try {
        for (;;) open.push(openSync("/dev/null", "r"));
      } catch {}
    },
  });
  pi.registerCommand("release", { handler: async () => open.splice(0).forEach(closeSync) });
};`;

const calls = [
  { name: "bash", arguments: { command: "echo hi" } },
  { name: "read", arguments: { path: "notes.txt" } },
  { name: "grep", arguments: { pattern: "x" } },
  { name: "ls", arguments: {} },
  { name: "write", arguments: { path: "new.txt", content: "x" } },
];

/** The result of each tool. */
async function results(host: ReturnType<typeof startHost>): Promise<string[]> {
  host.send({ type: "prompt", message: "go" });
  const texts = new Map<unknown, string>();
  while (texts.size < calls.length) {
    const ended = await host.until({ "...": true, type: "tool_execution_end" });
    texts.set(ended.toolName, JSON.stringify(ended.result));
  }
  await host.until({ "...": true, type: "agent_settled" });
  return calls.map(({ name }) => texts.get(name) ?? "");
}

const hasLimit = process.platform !== "win32";

it.runIf(hasLimit)("explains what to do when too many files are open, and recovers", async () => {
  const turn = [{ content: calls.map((call) => ({ type: "toolCall" as const, ...call })) }, "ok"];
  const host = startHost(
    {
      scenario: [...turn, ...turn, ...turn],
      files: { "agent/extensions/files.js": extension },
    },
    { command: ["/bin/sh", "-c", 'ulimit -n 200; exec "$@"', "sh", process.execPath] },
  );
  const before = (await results(host)).join();
  expect(before).not.toContain("ulimit");
  host.send({ type: "prompt", message: "/exhaust" });
  await host.until({ "...": true, type: "prompt_result", status: "handled" });
  for (const text of await results(host)) expect(text).toContain("ulimit -n");
  host.send({ type: "bash", command: "echo hi" });
  const { error } = await host.until({ "...": true, command: "bash" });
  expect(error).toContain("ulimit -n");
  host.send({ type: "prompt", message: "/release" });
  await host.until({ "...": true, type: "prompt_result", status: "handled" });
  expect((await results(host)).join()).not.toContain("ulimit");
});
