import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ApprovalRequest, defineTool, RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { sliceSize } from "../../../../scripts/testing/slice.ts";
import { makePlace } from "../support/place.ts";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, startHost } from "../support/start-host.ts";

const write = "echo ran >> ran.txt";
const scenario = [
  {
    repeat: true,
    when: { hasToolResults: false },
    content: [{ type: "toolCall" as const, name: "bash", arguments: { command: write } }],
  },
  { repeat: true, when: { hasToolResults: true }, content: "done" },
];
const args = ["--permission-mode", "ask"];
const initialize = { type: "initialize", capabilities: { hostRequests: true } };
const approval = { "...": true, type: "host_request", method: "tool_approval" };

/** How many hosts are killed; before a release, run with `TAU_KILLS=100`. */
const kills = Number(process.env.TAU_KILLS ?? sliceSize(3, 30));
/** The same delays in every run of a test. */
const delayOf = (run: number, step: number): number => (run * 37 + step * 61) % 160;

function sessionFile(folder: string): string | undefined {
  const root = join(folder, "agent", "sessions");
  if (!existsSync(root)) return undefined;
  const [project = ""] = readdirSync(root);
  const file = readdirSync(join(root, project)).find((name) => name.endsWith(".jsonl"));
  return file && join(root, project, file);
}

it.each(Array.from({ length: kills }, (_, run) => run))(
  "a host killed during a question repeats the question, and the tool runs at most once (%i)",
  async (run) => {
    const place = makePlace({ scenario, arguments: args });
    const ran = (): number => {
      const file = join(place.cwd, "ran.txt");
      return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
    };
    const first = startHost({}, { place });
    first.send(initialize);
    await first.until({ "...": true, command: "initialize" });
    first.send({ type: "prompt", message: "go" });
    const asked = await (run % 2 === 0 ? first.until(approval) : wait(delayOf(run, 1)));
    if (run % 4 === 0) await wait(delayOf(run, 2) / 4);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(ran()).toBe(0);

    const path = sessionFile(place.folder);
    if (path === undefined) return;
    const isOpen = readFileSync(path, "utf8").includes('"phase":"asked"');
    if (asked !== undefined) expect(isOpen).toBe(true);
    if (!isOpen) return;
    const again = { ...place, arguments: [...place.arguments, "--session", path] };
    const second = startHost({}, { place: again });
    second.send(initialize);
    const { id } = await second.until(approval);
    if (asked !== undefined) expect(id).toBe(asked.id);
    second.send({ type: "get_state", id: "s" });
    const state = await second.until({ "...": true, id: "s" });
    expect(state.data).toMatchObject({ isStreaming: true, pendingRequests: [id] });
    expect(ran()).toBe(0);
    second.send({ type: "host_response", id, result: { decision: "allow" } });
    if (run % 3 === 0) {
      await second.until({ "...": true, type: "prompt_result" }, 100).catch(() => {});
    } else await wait(delayOf(run, 3) / 4);
    second.child.kill("SIGKILL");
    await second.ended;
    expect(ran()).toBeLessThanOrEqual(1);

    const text = readFileSync(path, "utf8");
    const third = startHost({}, { place: again });
    third.send(initialize);
    await third.until({ "...": true, command: "initialize" });
    if (!text.includes('"phase":"answered"')) {
      expect((await third.until(approval)).id).toBe(id);
      expect(ran()).toBe(0);
    } else {
      third.send({ type: "get_pending_requests", id: "p" });
      expect((await third.until({ "...": true, id: "p" })).data).toEqual({ requests: [] });
    }
    expect(ran()).toBeLessThanOrEqual(1);
  },
);

it("closing stdin leaves the question open for the next host", async () => {
  const place = makePlace({ scenario, arguments: args });
  const first = startHost({}, { place });
  first.send(initialize);
  first.send({ type: "prompt", message: "go" });
  const { id } = await first.until(approval);
  first.child.stdin.end();
  expect(await first.until({ "...": true, type: "host_request_resolved" })).toMatchObject({
    id,
    by: "end",
  });
  expect((await first.ended).code).toBe(0);
  const path = sessionFile(place.folder) ?? "";
  const again = { ...place, arguments: [...place.arguments, "--session", path] };
  const second = startHost({}, { place: again });
  // The first command declares what the client answers, so no request can arrive earlier.
  await wait(50);
  expect(second.stdout).toBe("");
  second.send({ ...initialize, id: "i" });
  expect((await second.until(approval)).id).toBe(id);
  second.send({ type: "prompt", message: "else", id: "busy" });
  expect(await second.until({ "...": true, id: "busy" })).toMatchObject({ code: "busy" });
  second.send({ type: "host_response", id, result: { decision: "deny", message: "no" } });
  await second.until({ "...": true, type: "agent_settled" });
  expect(await second.until({ "...": true, type: "prompt_result" })).toMatchObject({
    status: "completed",
  });
  expect(existsSync(join(place.cwd, "ran.txt"))).toBe(false);
});

describe("RpcClient", () => {
  async function start(options: Partial<ConstructorParameters<typeof RpcClient>[0]>) {
    const place = makePlace({ scenario, arguments: [...args, "--no-session"] });
    const client = new RpcClient({
      ...options,
      cliPath: binPath,
      cwd: place.cwd,
      env: place.variables,
      args: place.arguments.slice(2),
    });
    onTestFinished(async () => {
      await client.stop();
      place.remove();
    });
    await client.start();
    return { client, ran: () => existsSync(join(place.cwd, "ran.txt")) };
  }

  it("calls its approve function and sends the answer", async () => {
    const asked: ApprovalRequest[] = [];
    const { client, ran } = await start({
      approve: (request) => {
        asked.push(request);
        return { decision: "allow" };
      },
    });
    await client.promptAndWait("go");
    expect(asked).toMatchObject([{ toolName: "bash", input: { command: write } }]);
    expect(ran()).toBe(true);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no"))],
    ["returns nothing", () => undefined as never],
    ["returns what the host refuses", () => ({ decision: "sure" }) as never],
  ])("denies the call if the function %s", async (_, approve) => {
    const { client, ran } = await start({ approve });
    expect((await client.promptAndWait("go")).status).toBe("completed");
    expect(ran()).toBe(false);
  });

  it("tells its function when the question has ended", async () => {
    const open = Promise.withResolvers<AbortSignal>();
    const { client } = await start({
      approve: (_, { signal }) => {
        open.resolve(signal);
        return new Promise(() => {});
      },
    });
    const ended = client.promptAndWait("go");
    const signal = await open.promise;
    await client.abort();
    expect((await ended).status).toBe("aborted");
    expect(signal.reason).toMatchObject({ type: "host_request_resolved", by: "abort" });
  });

  it("shows a select dialog without an approve function, and denies without either", async () => {
    const titles: string[] = [];
    const shown = await start({
      ui: {
        select: async ({ title, options }) => {
          titles.push(title);
          return options[0];
        },
      },
    });
    await shown.client.promptAndWait("go");
    expect([titles, shown.ran()]).toEqual([[`Allow bash: ${write}?`], true]);
    const silent = await start({});
    await silent.client.promptAndWait("go");
    expect(silent.ran()).toBe(false);
  });
});

it("RpcClient runs tools of its own program", async () => {
  const toolCall = { type: "toolCall" as const, name: "ticket", arguments: { number: 7 } };
  const place = makePlace({ scenario: [{ content: [toolCall] }, { content: "done" }] });
  const client = new RpcClient({
    cliPath: binPath,
    cwd: place.cwd,
    env: place.variables,
    args: [...place.arguments.slice(2), "--no-session"],
  });
  onTestFinished(async () => {
    await client.stop();
    place.remove();
  });
  await client.start();
  const updates: unknown[] = [];
  client.onEvent((event) => {
    if (event.type === "tool_execution_update") updates.push(event.partialResult.content);
  });
  const ticket = defineTool({
    name: "ticket",
    description: "Looks up a ticket.",
    parameters: z.object({ number: z.number(), project: z.string().default("core") }),
    execute: ({ number, project }, { update }) => {
      update("looking");
      return `Ticket ${project}-${number} is open.`;
    },
  });
  expect(await client.setHostTools([ticket])).toEqual(["ticket"]);
  const { messages } = await client.promptAndWait("go");
  expect(messages.find(({ role }) => role === "toolResult")).toMatchObject({
    content: [{ text: "Ticket core-7 is open." }],
    isError: false,
  });
  expect(updates).toEqual([[{ type: "text", text: "looking" }]]);
});

describe("a question from a subagent", () => {
  const place = () =>
    repositoryPlace(
      [
        ...worker("<inner>", call("bash", { command: "touch made.txt" })),
        ...worker("<outer>", call("task", { tasks: [{ id: "in", task: "<inner>" }] })),
        ...worker("start", call("task", { tasks: [{ id: "out", task: "<outer>" }] })),
      ],
      {},
      args,
    );

  it("reaches the client with the ids of the subagents, and the answer returns to the subagent", async () => {
    const at = place();
    const host = startHost({}, { place: at });
    host.send(initialize);
    host.send({ type: "prompt", message: "start" });
    const { id, agentId, params } = await host.until(approval);
    expect(agentId).toBe("out/in");
    expect(params).toMatchObject({ toolName: "bash", title: "Allow bash: touch made.txt?" });
    expect(existsSync(join(at.cwd, "made.txt"))).toBe(false);
    host.send({ type: "host_response", id, result: { decision: "allow" } });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(existsSync(join(at.cwd, "made.txt"))).toBe(true);
  });

  it("is decided by a rule that is added while the question is open", async () => {
    const at = place();
    const host = startHost({}, { place: at });
    host.send(initialize);
    host.send({ type: "prompt", message: "start" });
    const { id } = await host.until(approval);
    host.send({ type: "set_permissions", rules: [{ tool: "bash", action: "deny" }] });
    expect(await host.until({ "...": true, type: "host_request_resolved" })).toMatchObject({
      id,
      by: "rule",
      outcome: "deny",
    });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(existsSync(join(at.cwd, "made.txt"))).toBe(false);
  });
});

it.each(["/secret/**", "/../**/secret/x"])(
  "a rule for %s of the project also applies to an isolated subagent's copy of it",
  async (path) => {
    const at = repositoryPlace([
      ...worker("<inner>", call("write", { path: "secret/x", content: "x" })),
      ...worker("start", call("task", { task: "<inner>", isolated: true })),
    ]);
    const host = startHost({}, { place: at });
    const rules = [{ tool: "write", match: resolve(at.cwd, `.${path}`), action: "deny" }];
    host.send({ type: "set_permissions", rules });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "agent_settled" });
    expect(existsSync(join(at.cwd, "secret/x"))).toBe(false);
  },
);

it("print mode denies calls that need an approval and tells the model", async () => {
  const place = makePlace({ scenario, arguments: ["-p", "go", ...args] });
  const host = startHost({}, { place });
  host.child.stdin.end();
  expect((await host.ended).code).toBe(0);
  expect(existsSync(join(place.cwd, "ran.txt"))).toBe(false);
});
