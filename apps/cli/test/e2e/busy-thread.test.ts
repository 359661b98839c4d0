import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostProcess } from "@tau-agent/conformance";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import type { Place } from "../support/place.ts";
import { areGone, isAlive, runHost, startHost } from "../support/start-host.ts";

/** Blocks the thread for some time without using the processor. */
const hold = (ms: number) => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms});`;

const ways = {
  "an endless loop": "for (;;);",
  "an endless loop that catches everything": "for (;;) { try { for (;;); } catch {} }",
  "an endless search": `/^(a+)+$/.test("a".repeat(200) + "!");`,
  "a wait for other threads": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
  "a wait for a program": `execSync("sleep 15");`,
} as const;

const extension = (block: string) => `import { execSync } from "node:child_process";
import { writeFileSync } from "node:fs";
export default (pi) => {
  pi.registerCommand("block", {
    handler: async () => {
      // Waits until commands sent together with this one have been handled.
      await new Promise((resolve) => setTimeout(resolve, 200));
      writeFileSync("blocked", "");
      ${block}
    },
  });
};`;

/** A host with a child process, whose thread is blocked. */
async function blocked(
  block: string,
): Promise<HostProcess & { readonly place: Place; readonly commandPid: number }> {
  const host = startHost({ files: { "agent/extensions/block.js": extension(block) } });
  host.send({ type: "bash", command: "sleep 660 >/dev/null 2>&1 & echo $!" });
  const { data } = await host.until({ "...": true, command: "bash" });
  const commandPid = Number((data as { output: string }).output);
  expect(isAlive(commandPid)).toBe(true);
  host.send({ type: "prompt", message: "/block" });
  while (!existsSync(join(host.place.cwd, "blocked"))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return Object.assign(host, { commandPid });
}

/** Fails if the host takes longer than guaranteed. */
const promisedMs = 5_000;

describe("a host whose thread is blocked by", () => {
  it.each(slice(Object.entries(ways), 2))("%s ends on the second signal", async (_, block) => {
    const host = await blocked(block);
    host.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const start = performance.now();
    host.child.kill("SIGTERM");
    const { code, signal } = await host.ended;
    expect(performance.now() - start).toBeLessThan(2_000);
    expect([143, "SIGKILL"]).toContain(code ?? signal);
    expect(await areGone([host.commandPid])).toBe(true);
  });

  const signals = [
    ["an endless loop", "SIGINT", 130],
    ["a wait for other threads", "SIGHUP", 129],
    ["a wait for a program", "SIGTERM", null],
  ] as const;
  it.each(slice(signals, 1))("%s ends on a single %s", async (way, signal, code) => {
    const host = await blocked(ways[way]);
    const start = performance.now();
    host.child.kill(signal);
    expect(await host.ended).toMatchObject({ code });
    expect(performance.now() - start).toBeLessThan(promisedMs);
    expect(await areGone([host.commandPid])).toBe(true);
  });

  it.each(slice(["an endless loop", "an endless search"] as const, 1))(
    "%s ends when its input ends",
    async (way) => {
      const host = await blocked(ways[way]);
      const start = performance.now();
      host.child.stdin.end();
      expect(await host.ended).toMatchObject({ code: 0 });
      expect(performance.now() - start).toBeLessThan(promisedMs);
      expect(await areGone([host.commandPid])).toBe(true);
    },
  );
});

it("ends a blocked host some time after its input ends, even if a command is unanswered", async () => {
  const host = await blocked(ways["a wait for other threads"]);
  host.send({ type: "get_state", id: "late" });
  host.child.stdin.end();
  expect(await host.ended).toMatchObject({ code: 0 });
  expect(await areGone([host.commandPid])).toBe(true);
});

it("keeps the order of commands that arrive while the thread is busy for a while", async () => {
  const host = await blocked(hold(4_500));
  const ids = Array.from({ length: 300 }, (_, at) => `c${at}`);
  const filler = "x".repeat(2_000);
  for (const id of ids) {
    host.send({ type: "set_session_name", name: `${id}${filler}`, id });
    if (id === "c150") await new Promise((resolve) => setTimeout(resolve, 3_500));
  }
  await host.until({ "...": true, id: ids.at(-1) as string });
  const answered = host.stdout.split("\n").flatMap((line) => /"id":"(c\d+)"/.exec(line)?.[1] ?? []);
  expect(answered).toEqual(ids);
  expect(readFileSync(join(host.place.cwd, "blocked"), "utf8")).toBe("");
});

const starts = {
  "loading an extension": `${hold(3_000)} export default () => {};`,
  "setting up an extension": `export default () => { ${hold(4_500)} };`,
  "a handler of session_start": `export default (pi) => {
    pi.on("session_start", () => { ${hold(3_000)} });
  };`,
} as const;

/** An extension loaded after the thread was blocked lets the event loop turn before the host reads its input. */
const slowStart = (code: string) => ({
  "agent/extensions/slow.js": code,
  "agent/extensions/then.js": `export default async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
  };`,
});

describe("a host whose thread is blocked during its start by", () => {
  const filler = "x".repeat(20_000);
  const commands = [
    { type: "get_state", id: "first" },
    ...Array.from({ length: 150 }, (_, at) => ({
      type: "set_session_name",
      name: `${at}${filler}`,
      id: `name ${at}`,
    })),
    { type: "prompt", message: "Hello", id: "last" },
  ];
  const ids = commands.map(({ id }) => id);
  const answeredIds = ({ stdout }: HostProcess) =>
    stdout.split("\n").flatMap((line) => {
      const { type, id } = line === "" ? { type: "" } : JSON.parse(line);
      return type === "response" ? [id] : [];
    });

  it.each(slice(Object.entries(starts), 1))(
    "%s answers everything that was sent before the input ended",
    async (_, code) => {
      const host = startHost({ files: slowStart(code) });
      for (const command of commands) host.send(command);
      host.child.stdin.end();
      expect(await host.ended).toMatchObject({ code: 0 });
      expect(answeredIds(host)).toEqual(ids);
      expect(host.stdout).toContain('"type":"agent_start"');
    },
  );

  it.each(slice(Object.entries(starts), 1))("%s continues with later commands", async (_, code) => {
    const host = startHost({ files: slowStart(code) });
    for (const command of commands) host.send(command);
    await host.until({ "...": true, type: "prompt_result" });
    host.send({ type: "get_state", id: "later" });
    await host.until({ "...": true, id: "later" });
    expect(answeredIds(host)).toEqual([...ids, "later"]);
  });

  it.each(slice([{ argv: [] }, { argv: ["--sessions"] }], 1))(
    "an extension refuses an unknown option, although its input has ended: $argv",
    async ({ argv }) => {
      const { code, stderr } = await runHost({
        files: slowStart(starts["setting up an extension"]),
        arguments: [...argv, "--wrod"],
      });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("--wrod") });
    },
  );

  it("answers a client with many sessions while an extension loads", async () => {
    const host = startHost({
      files: slowStart(starts["loading an extension"]),
      arguments: ["--sessions"],
    });
    host.send({ type: "open_session", id: "open" });
    host.send({ type: "list_sessions", id: "state" });
    host.child.stdin.end();
    expect(await host.ended).toMatchObject({ code: 0 });
    expect(answeredIds(host).toSorted()).toEqual(["open", "state"]);
  });
});
