import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { RpcClient, type RpcClientOptions } from "@tau-agent/rpc-client";
import type { Workspace, WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { createLocalWorkspace } from "@tau-agent/system";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { makePlace } from "../support/place.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";
import { elsewhere, toolSuite } from "../support/tool-suite.ts";

/** A folder of the client and the workspace that it serves there. */
function clientsPlace(homeDirectory?: string) {
  const cwd = elsewhere();
  const local = createLocalWorkspace({ cwd, homeDirectory });
  const started: WorkspaceSpawnOptions[] = [];
  const workspace: Workspace = {
    ...{ id: local.id, cwd },
    describe: (options) => local.describe(options),
    stat: (...call) => local.stat(...call),
    list: (...call) => local.list(...call),
    read: (...call) => local.read(...call),
    write: (...call) => local.write(...call),
    remove: (...call) => local.remove(...call),
    rename: (...call) => local.rename(...call),
    createDirectory: (...call) => local.createDirectory(...call),
    spawn: (options) => {
      started.push(options);
      return local.spawn(options);
    },
  };
  return { cwd, workspace, started };
}

async function connect(...given: Parameters<typeof RpcClient.connect>) {
  const client = await RpcClient.connect(...given);
  onTestFinished(() => client.close());
  return client;
}

const scenario = toolSuite;

async function resultTexts(session: Awaited<ReturnType<RpcClient["openSession"]>>) {
  const { messages } = await session.getMessages();
  return messages.flatMap((message) =>
    message.role === "toolResult" ? [JSON.stringify(message.content)] : [],
  );
}

const isolated = ["--isolate", "process"];

it("is used by a host whose command line has an option of an extension", async () => {
  const extension = `export default (pi) => pi.registerFlag("plan", { type: "boolean" });`;
  const form = (cwd: string) => JSON.stringify({ client: true, cwd });
  const { cwd, workspace } = clientsPlace();
  const { url, token } = await listeningHost({
    scenario,
    files: { "agent/extensions/plan.ts": extension },
    arguments: ["--workspace", form(cwd), "--plan"],
  });
  const client = await connect(url, { token, workspace });
  const session = await client.openSession();
  expect((await session.getState()).workspace).toMatchObject({ kind: "client", cwd });
});

describe.each([
  ["a host", []],
  ["a host with a process for each session", isolated],
])("a workspace of the connected client of %s", (_, words) => {
  it("is where the tools act, and the client's program sees their changes", async () => {
    const { url, token, place } = await listeningHost({ scenario, arguments: words });
    const { cwd, workspace, started } = clientsPlace();
    const client = await connect(url, { token, workspace });
    const session = await client.openSession({ workspace: { client: true, cwd } });
    const statuses: unknown[] = [];
    session.onEvent((event) => {
      if (event.type === "workspace_status") statuses.push(event.status);
    });
    const state = await session.getState();
    expect(state.workspace).toMatchObject({ kind: "client", cwd, status: "connected" });
    expect((await session.promptAndWait("Go")).text).toBe("Done.");
    const here = elsewhere();
    const local = await client.openSession({ cwd: here });
    await local.promptAndWait("Go");
    const expected = (await resultTexts(local)).map((text) => text.replaceAll(here, cwd));
    expect(await resultTexts(session)).toEqual(expected);
    expect(readFileSync(join(cwd, "new/b.txt"), "utf8")).toBe("b");
    expect(started.some(({ command }) => String(command).includes("exit 3"))).toBe(true);
    expect(existsSync(join(place.cwd, "new"))).toBe(false);
    expect(statuses).toEqual([]);
  });

  it("is lost when its client disconnects, and is served by the next client with the capability", async () => {
    const scenario = [
      turn(toolCall("bash", { command: "sleep 600" })),
      turn("It was lost."),
      turn(toolCall("read", { path: "a.txt" })),
      turn("It is back."),
    ];
    const { unixUrl } = await listeningHost({ scenario, arguments: words });
    const { cwd, workspace, started } = clientsPlace();
    const first = await RpcClient.connect(unixUrl, { workspace, reconnect: { maxMs: 0 } });
    const { sessionId, ...opened } = await first.openSession({ workspace: { client: true, cwd } });
    expect(opened).toBeDefined();
    const watching = await connect(unixUrl);
    const watched = await watching.attachSession(sessionId);
    const statuses: string[] = [];
    watched.onEvent((event) => {
      if (event.type === "workspace_status") statuses.push(event.status);
    });
    const running = watched.promptAndWait("Go");
    await expect.poll(() => started.length).toBe(1);
    await first.close();
    expect((await running).text).toBe("It was lost.");
    expect((await resultTexts(watched))[0]).toContain("workspace lost");
    expect(statuses).toEqual(["lost"]);

    // The next prompt waits for a client that can serve the workspace.
    const waiting = watched.promptAndWait("Again");
    const other = await connect(unixUrl, { workspace });
    await other.attachSession(sessionId);
    expect((await waiting).text).toBe("It is back.");
    expect((await resultTexts(watched))[1]).toContain("one");
    expect(statuses).toEqual(["lost", "connected"]);
  });

  it("keeps long outputs and jobs in the home of the client's user, and loses a job with the client", async () => {
    const job = (command: string) => toolCall("bash", { command, background: true });
    const scenario = [
      turn([toolCall("bash", { command: "seq 30000" }), job("echo one; echo two >&2; exit 3")]),
      turn(job("echo up; sleep 600")),
      turn("Done."),
    ];
    const { unixUrl, place } = await listeningHost({ scenario });
    const home = elsewhere();
    const { cwd, workspace } = clientsPlace(home);
    const first = await RpcClient.connect(unixUrl, { workspace, reconnect: { maxMs: 0 } });
    const { sessionId } = await first.openSession({ workspace: { client: true, cwd } });
    const watching = await connect(unixUrl);
    const watched = await watching.attachSession(sessionId);
    const ends: { jobId: string; status: string; exitCode: number | null }[] = [];
    watched.onEvent((event) => {
      if (event.type === "job_end") ends.push(event);
    });
    await watched.promptAndWait("Go");
    const [long = ""] = await resultTexts(watched);
    const path = /[^\s"]+\/outputs\/pi-bash-\w+\.log/.exec(long)?.[0] ?? "";
    expect(path.startsWith(join(home, ".cache/tau"))).toBe(true);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(30_001);
    const ended = { status: "exited", exitCode: 3 };
    await expect.poll(() => ends).toMatchObject([ended]);
    const [{ jobId } = { jobId: "" }] = ends;
    const { output } = await watched.jobOutput(jobId);
    expect(output.split("\n").toSorted()).toEqual(["", "one", "two"]);
    await first.close();
    await expect.poll(() => ends[1]).toMatchObject({ status: "lost" });
    expect(existsSync(join(place.folder, "agent", "jobs"))).toBe(false);
    // The end of the job can only be written once a client serves the workspace.
    const other = await connect(unixUrl, { workspace });
    await other.attachSession(sessionId);
    const { jobs } = await watched.listJobs();
    expect(jobs).toMatchObject([ended, { status: "lost" }]);
  });

  it("is refused without the capability", async () => {
    const { unixUrl } = await listeningHost({ scenario, arguments: words });
    const client = await connect(unixUrl);
    const opening = client.openSession({ workspace: { client: true, cwd: "/there" } });
    await expect(opening).rejects.toMatchObject({
      code: "workspace_unreachable",
      message: expect.stringContaining("capabilities.workspace"),
    });
  });

  it("works with the frames of the exec server, which have no order in the session", async () => {
    const { unixUrl } = await listeningHost({ scenario, arguments: words });
    const client = await FrameClient.connect(unixUrl);
    client.send({ type: "initialize", capabilities: { workspace: true } });
    client.send({ id: "o", type: "open_session", workspace: { client: true, cwd: "/there" } });
    const call = await client.until(({ type }) => type === "workspace_call");
    expect(call).toEqual({
      type: "workspace_call",
      id: expect.any(String),
      workspaceId: expect.stringMatching(/^ws-[0-9a-f]{12}$/),
      method: "describe",
      params: {},
    });
    // Results for an unknown call, and without a call id.
    client.send({ type: "workspace_result", id: "nobodys", result: {} });
    client.send({ type: "workspace_result" });
    expect(await client.until(({ command }) => command === "workspace_result")).toMatchObject({
      code: "invalid_response",
    });
    client.send({
      type: "workspace_result",
      id: call.id,
      error: { code: "failed", message: "no" },
    });
    expect(await client.until(({ type, id }) => type === "response" && id === "o")).toMatchObject({
      code: "workspace_unreachable",
    });
  });
});

/** A client that starts its own host and serves the workspace in `cwd` that the command line asks for. */
async function startClient(cwd: string, { workspace }: Pick<RpcClientOptions, "workspace">) {
  const place = makePlace({ scenario });
  onTestFinished(() => place.remove());
  const client = new RpcClient({
    command: [process.execPath, binPath, ...place.arguments],
    args: ["--workspace", JSON.stringify({ client: true, cwd })],
    cwd: place.cwd,
    env: { ...place.variables, NODE_OPTIONS: process.env.NODE_OPTIONS },
    ...(workspace && { workspace }),
  });
  onTestFinished(async () => void (await client.stop()));
  return { client, place };
}

describe("a host on stdin whose client serves the workspace", () => {
  it("opens its session with the client's help and works there", async () => {
    const { cwd, workspace } = clientsPlace();
    const { client, place } = await startClient(cwd, { workspace });
    chmodSync(place.cwd, 0o555);
    await client.start();
    expect((await client.getState()).workspace).toMatchObject({ kind: "client", cwd });
    expect((await client.promptAndWait("Go")).text).toBe("Done.");
    expect(JSON.stringify((await client.getMessages()).messages)).toContain("two\\n");
    expect(readFileSync(join(cwd, "new/b.txt"), "utf8")).toBe("b");
    expect(await client.stop()).toMatchObject({ exitCode: 0 });
  });

  it("ends with workspace_unreachable if the client serves no workspace", async () => {
    const { client } = await startClient("/there", {});
    await expect(client.start()).rejects.toThrow("initialize with capabilities.workspace");
    expect(client.exitCode).toBe(5);
  });

  it.each([
    ["is closed at once", ""],
    ["asks for something else first", '{"type":"get_state"}\n'],
    [
      "is closed while the session opens",
      '{"type":"initialize","capabilities":{"workspace":true}}\n',
    ],
  ])("fails in the same way when stdin %s", async (_, input) => {
    const words = ["--workspace", JSON.stringify({ client: true, cwd: "/there" })];
    const { code, stderr } = await runHost({ arguments: words }, input);
    expect(stderr).toMatch(/cannot be reached|workspace lost/);
    expect(code).toBe(5);
  });

  it("is refused together with --listen", async () => {
    const words = ["--listen", "127.0.0.1:0", "--workspace", '{"client":true,"cwd":"/there"}'];
    const host = startHost({ arguments: words });
    expect((await host.ended).code).toBe(1);
    expect(host.stderr).toContain("needs --sessions");
  });
});
