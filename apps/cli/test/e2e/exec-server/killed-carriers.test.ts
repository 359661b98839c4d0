import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { seed, sliceSize } from "../../../../../scripts/testing/slice.ts";
import { nextLike } from "../../support/next-like.ts";
import { startHost } from "../../support/start-host.ts";

const file = fileURLToPath(new URL("../../../dist/exec-server.js", import.meta.url));
const kills = sliceSize(10, 200);
/** On a busy machine, each attempt to reconnect may take a while. */
const msOfKill = 20_000;
const title = `a session whose carrier is killed ${kills} times tells the model what happened`;

const linesOf = (path: string) =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

/** All the reconnection attempts may happen between two frames. */
async function result(host: ReturnType<typeof startHost>) {
  for (;;) {
    const frame = await host.frames.next(10 * msOfKill);
    if (frame === undefined) throw new Error(`nothing came; stderr: ${host.stderr}`);
    if (frame.type === "prompt_result") return frame;
  }
}

it(title, { timeout: kills * msOfKill }, async () => {
  const there = mkdtempSync(join(tmpdir(), "tau-killed-"));
  onTestFinished(() => rm(there, { recursive: true, force: true, maxRetries: 5 }));
  const [pids, log] = [join(there, "pids"), join(there, "log")];
  const carrier = `echo $$ >>${pids}; exec ${process.execPath} ${file}`;
  const spec = { command: ["sh", "-c", carrier], cwd: there };
  // More calls than are in progress while carriers are killed and restarted.
  const numbers = Array.from({ length: 3 * kills }, (_, index) => index);
  const calls = numbers.map((number) => {
    const command = `echo ${number} >>log; sleep 0.1; echo done-${number}`;
    return turn(toolCall("bash", { command }));
  });
  const workspace = ["--workspace", JSON.stringify(spec)];
  const host = startHost({ scenario: [...calls, turn("Done.")], arguments: workspace });
  host.send({ id: "p", type: "prompt", message: "Go" });
  await nextLike(host, { type: "tool_execution_start" });
  let isOver = false;
  const over = result(host).finally(() => {
    isOver = true;
  });
  let killed = 0;
  for (; killed < kills; killed += 1) {
    const isNext = () => isOver || linesOf(pids).length > killed;
    await expect.poll(isNext, { timeout: msOfKill, interval: 10 }).toBe(true);
    if (isOver) break;
    // At a time before the first frame, before a command is sent, while it runs, at its end, or after it.
    await sleep(((killed * 37 + seed) % 20) * 15);
    process.kill(Number(linesOf(pids)[killed]), "SIGKILL");
  }
  expect(await over).toMatchObject({ status: "completed" });
  expect(killed).toBe(kills);
  host.send({ id: "m", type: "get_messages" });
  const { data } = await nextLike(host, { id: "m", type: "response" });
  const { messages } = data as { messages: { role: string; content: { text: string }[] }[] };
  const results = messages.filter(({ role }) => role === "toolResult");
  expect(results).toHaveLength(numbers.length);
  const written = linesOf(log).map(Number);
  // No command ran twice.
  expect(written).toEqual([...new Set(written)]);
  for (const [number, { content }] of results.entries()) {
    const text = content[0]?.text ?? "";
    if (text.includes("workspace lost")) continue;
    expect(text).toBe(`done-${number}\n`);
    expect(written).toContain(number);
  }
  // No command ran on the host instead.
  expect(existsSync(join(host.place.cwd, "log"))).toBe(false);
});
