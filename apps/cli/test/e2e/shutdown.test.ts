import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostProcess } from "@tau-agent/conformance";
import { describe, expect, it } from "vitest";
import type { Place } from "../support/place.ts";
import { areGone, isAlive, startHost } from "../support/start-host.ts";

const daemon = "setsid sh -c 'echo $$ >> pids; exec sleep 662 >/dev/null 2>&1' &";
const stranger = "(env -i setsid sh -c 'echo $$ >> pids; exec sleep 663 >/dev/null 2>&1' &);";
const children = `echo $$ > pids; sleep 660 & echo $! >> pids; (sleep 661 & echo $! >> pids); ${daemon} ${stranger} wait`;
const call = (command: string) => ({
  content: [{ type: "toolCall" as const, name: "bash", arguments: { command } }],
});

/** Waits until the command of {@link children} runs, and returns its processes. */
async function childrenOf({ cwd }: Place): Promise<number[]> {
  const path = join(cwd, "pids");
  for (;;) {
    const pids = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map(Number) : [];
    if (pids.length === 5) return pids;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function withChildren(): Promise<HostProcess & { place: Place; pids: number[] }> {
  const host = startHost({ scenario: [call(children)] });
  host.send({ type: "prompt", message: "go", id: "p" });
  const pids = await childrenOf(host.place);
  expect(pids.every(isAlive)).toBe(true);
  return Object.assign(host, { pids });
}

/** Waits until a host's prompt is in its session file and the pipe of its output is full. */
async function untilStuck({ folder }: Place): Promise<void> {
  const written = () => readdirSync(join(folder, "agent"), { recursive: true });
  await expect.poll(written).toContainEqual(expect.stringMatching(/\.jsonl$/));
  await new Promise((resolve) => setTimeout(resolve, 400));
}

describe("the end of stdin", () => {
  it("ends an idle host with exit code 0 at once [pisces.stdin.end]", async () => {
    const host = startHost();
    host.send({ type: "get_state" });
    await host.until({ "...": true, type: "response" });
    const start = performance.now();
    expect(await host.finish()).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(host.stderr).toBe("");
  });

  it("aborts the run, kills its children and grandchildren, and reports how it ended", async () => {
    const host = await withChildren();
    const start = performance.now();
    const { code } = await host.finish();
    expect(code).toBe(0);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await areGone(host.pids)).toBe(true);
    expect(host.stdout).toContain('"type":"prompt_result","id":"p","status":"aborted"');
    const lines = host.stdout.trimEnd().split("\n");
    expect(() => lines.map((line) => JSON.parse(line))).not.toThrow();
  });

  it("kills a client's command together with its background processes", async () => {
    const host = startHost();
    host.send({ type: "bash", command: children, id: "b" });
    const pids = await childrenOf(host.place);
    expect((await host.finish()).code).toBe(0);
    expect(await areGone(pids)).toBe(true);
    expect(host.stdout).toContain('"cancelled":true');
  });

  it("kills the background processes of a finished command", async () => {
    const host = startHost();
    const command = `sleep 660 >/dev/null 2>&1 & echo $!; ${daemon} until test -s pids; do :; done; cat pids`;
    host.send({ type: "bash", command });
    const frame = await host.until({ "...": true, command: "bash" });
    const pids = (frame.data as { output: string }).output.trim().split("\n").map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.every(isAlive)).toBe(true);
    expect((await host.finish()).code).toBe(0);
    expect(await areGone(pids)).toBe(true);
  });

  it("answers a last command without a line feed first", async () => {
    const host = startHost();
    host.child.stdin.end('{"type":"get_state","id":"last"}');
    expect((await host.ended).code).toBe(0);
    expect(host.stdout).toContain('"id":"last"');
  });

  it("leaves no lease behind", async () => {
    const host = startHost({ scenario: ["one"] });
    host.send({ type: "prompt", message: "go" });
    await host.until({ "...": true, type: "agent_settled" });
    await host.finish();
    const files = readdirSync(join(host.place.folder, "agent"), { recursive: true });
    expect(files.filter((name) => String(name).endsWith(".jsonl"))).toHaveLength(1);
    expect(files.filter((name) => String(name).endsWith(".lock"))).toEqual([]);
  });
});

describe("a signal", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("%s ends host and children with %d", async (signal, code) => {
    const host = await withChildren();
    const start = performance.now();
    host.child.kill(signal);
    expect(await host.ended).toMatchObject({ code });
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await areGone(host.pids)).toBe(true);
  });

  it("ends the host at once when it is repeated, and the children soon after", async () => {
    // A reader that does not read delays the orderly shutdown until its deadline.
    const scenario = [{ content: "x".repeat(4_000_000), chunkSize: 100_000 }, call(children)];
    const host = startHost({ scenario }, { reads: false });
    host.send({ type: "prompt", message: "go" });
    await untilStuck(host.place);
    host.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(host.child.exitCode).toBeNull();
    const start = performance.now();
    host.child.kill("SIGTERM");
    host.child.stdout.resume();
    expect(await host.ended).toMatchObject({ code: 143 });
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it("takes effect within five seconds even if the reader is stuck", async () => {
    const scenario = [{ content: "x".repeat(4_000_000), chunkSize: 100_000 }];
    const host = startHost({ scenario }, { reads: false });
    host.send({ type: "prompt", message: "go" });
    await untilStuck(host.place);
    const start = performance.now();
    const exited = new Promise((resolve) => host.child.once("exit", resolve));
    host.child.kill("SIGTERM");
    expect(await exited).toBe(143);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe("a host that is killed with SIGKILL", () => {
  it("leaves no child behind", async () => {
    const host = await withChildren();
    host.child.kill("SIGKILL");
    expect(await host.ended).toMatchObject({ signal: "SIGKILL" });
    expect(await areGone(host.pids)).toBe(true);
  });

  it("has lost no message it announced, and its session can be continued", async () => {
    const command = (text: string) => call(`echo ${text}`);
    const scenario = ["a", "b", "c", "d", "e", "f"].map(command);
    const host = startHost({ scenario });
    host.send({ type: "prompt", message: "go" });
    for (let count = 0; count < 7; count++) await host.until({ "...": true, type: "message_end" });
    host.child.kill("SIGKILL");
    await host.ended;
    const announced = host.stdout
      .split("\n")
      .filter((line) => line.startsWith('{"type":"message_end"'))
      .map((line) => JSON.parse(line).message);
    const sessions = join(host.place.folder, "agent", "sessions");
    const files = readdirSync(sessions, { recursive: true, encoding: "utf8" });
    const path = join(sessions, files.find((name) => name.endsWith(".jsonl")) ?? "");
    const stored = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.includes('"type":"message"'))
      .map((line) => JSON.parse(line).message);
    expect(announced.length).toBeGreaterThanOrEqual(7);
    expect(stored.slice(0, announced.length)).toEqual(announced);
    const place = { ...host.place, arguments: [...host.place.arguments, "--session", path] };
    const next = startHost({}, { place });
    next.send({ type: "get_messages" });
    const { data } = await next.until({ "...": true, command: "get_messages", success: true });
    expect((data as { messages: unknown[] }).messages.slice(0, announced.length)).toEqual(
      announced,
    );
  });
});
