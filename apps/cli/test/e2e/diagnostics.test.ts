import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { createAgentSession } from "@tau-agent/coding-agent";
import { RpcClient } from "@tau-agent/rpc-client";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { makePdf } from "../../../../packages/system/src/documents/__fixtures__/make-pdf.ts";
import { readHostLine } from "../../src/command-line/read-host-line.ts";
import { environmentFrom } from "../../src/process/environment.ts";
import { startSubagentHost } from "../../src/session/subagent-host.ts";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { call, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, isAlive, runHost, startHost } from "../support/start-host.ts";
import type { Frame } from "../support/test-client.ts";

const server = fileURLToPath(
  new URL(
    "../../../../packages/coding-agent/src/diagnostics/__fixtures__/language-server.mjs",
    import.meta.url,
  ),
);

it("a language server ends with its host, even if the host is killed", async () => {
  const entry = {
    match: "*.txt",
    // The server writes its log into the project.
    server: ["sh", "-c", `exec '${process.execPath}' '${server}' well server.log`],
  };
  const host = startHost({
    files: {
      "agent/settings.json": JSON.stringify({
        diagnostics: { entries: [entry] },
        diagnosticsTimeoutMs: 60_000,
      }),
    },
    scenario: [
      turn(toolCall("write", { path: "a.txt", content: "BAD\n" })),
      turn(toolCall("bash", { command: "pwd; sleep 600" })),
    ],
  });
  host.send({ type: "prompt", message: "go", id: "p" });
  const end = await host.until(
    { "...": true, type: "tool_execution_end", toolName: "write" },
    90_000,
  );
  expect(JSON.stringify(end)).toContain("New problems:\\na.txt:1:1: error 7 bad: BAD");
  const log = readFileSync(join(host.place.cwd, "server.log"), "utf8");
  const pid = Number(/^start (\d+)$/m.exec(log)?.[1]);
  expect(isAlive(pid)).toBe(true);
  host.child.kill("SIGKILL");
  await host.ended;
  await expect.poll(() => isAlive(pid)).toBe(false);
});

it("a host uses one language server for its sessions in a folder, until the last is closed", async () => {
  const entry = {
    match: "*.txt",
    server: ["sh", "-c", `exec '${process.execPath}' '${server}' well server.log`],
  };
  const settings = { diagnostics: { entries: [entry] }, diagnosticsTimeoutMs: 60_000 };
  const writing = (name: string) => ({
    repeat: true,
    when: { lastUserIncludes: name, hasToolResults: false },
    content: [toolCall("write", { path: `${name}.txt`, content: "BAD\n" })],
  });
  const { host, place, unixUrl } = await listeningHost({
    files: { "agent/settings.json": JSON.stringify(settings) },
    scenario: [writing("one"), writing("two"), writing("three"), { repeat: true, content: "done" }],
  });
  const client = await FrameClient.connect(unixUrl);
  const { cwd } = place;
  const ids = [await client.open({ cwd }), await client.open({ cwd })];
  const told = async (sessionId = "", message: string) => {
    client.send({ type: "prompt", sessionId, message });
    const fits = (frame: Frame) =>
      frame.type === "tool_execution_end" && JSON.stringify(frame).includes(`${message}.txt`);
    return JSON.stringify(await client.until(fits));
  };
  expect(await told(ids[0], "one")).toContain("one.txt:1:1: error 7 bad: BAD");
  expect(await told(ids[1], "two")).toContain("two.txt:1:1: error 7 bad: BAD");
  await client.ask({ type: "close_session", sessionId: ids[0] });
  expect(await told(ids[1], "three")).toContain("three.txt:1:1: error 7 bad: BAD");
  const log = readFileSync(join(cwd, "server.log"), "utf8");
  const pids = [...log.matchAll(/^start (\d+)$/gm)].map(([, pid]) => Number(pid));
  expect(pids).toHaveLength(1);
  expect(isAlive(pids[0] ?? 0)).toBe(true);
  await client.ask({ type: "close_session", sessionId: ids[1] });
  await expect.poll(() => isAlive(pids[0] ?? 0)).toBe(false);
  expect(isAlive(host.child.pid ?? 0)).toBe(true);
});

it("@file.pdf on the command line becomes part of the prompt", async () => {
  const files = { "project/plan.pdf": makePdf(["The plan of the house"]).toString("latin1") };
  const scenario = [{ when: { lastUserIncludes: "The plan of the house" }, content: "read" }];
  const { code, stdout, stderr } = await runHost({
    files,
    scenario,
    arguments: ["-p", "@plan.pdf", "what?"],
  });
  expect([code, stdout.trim(), stderr]).toEqual([0, "read", ""]);
});

describe("a subagent in its own process", () => {
  const scenario = [
    ...worker("<child>", call("write", { path: "a.sh", content: "echo 'one\n" })),
    ...worker("start", call("task", { tasks: [{ id: "a", task: "<child>" }] })),
  ];
  const diagnostics = { entries: [{ match: "*.sh", command: "bash -n {file}" }] };
  const patient = { diagnosticsTimeoutMs: 60_000 };
  const problem = /New problems:\\na\.sh:\d+: .*unexpected EOF/;

  it.each([
    ["this program", {}],
    ["task.command", { "task.command": [process.execPath, binPath] }],
  ])("receives the problems of its edits by the settings of its host, %s", async (_kind, more) => {
    const place = repositoryPlace(scenario, { ...patient, ...more, diagnostics });
    const client = new RpcClient({
      ...{ cliPath: binPath, cwd: place.cwd, env: place.variables },
      args: [...place.arguments],
    });
    onTestFinished(async () => {
      await client.stop();
      place.remove();
    });
    await client.start();
    await client.promptAndWait("start");
    const { messages } = await client.getSubagentMessages("a");
    expect(JSON.stringify(messages)).toMatch(problem);
  });

  it.each([
    ["this program", {}],
    ["task.command", { "task.command": [process.execPath, binPath] }],
  ])("receives them by the option of a library caller, %s", async (_kind, more) => {
    const place = repositoryPlace(scenario, { ...patient, ...more });
    onTestFinished(() => place.remove());
    const environment = {
      ...environmentFrom({ PATH: process.env.PATH, ...place.variables }),
      ...{ cwd: place.cwd, program: [process.execPath, binPath] },
    };
    const events: SessionEvent[] = [];
    const session = await createAgentSession({
      ...{ cwd: place.cwd, environment: environment.variables, diagnostics },
      ...{ agentDirectory: environment.agentDirectory, homeDirectory: environment.homeDirectory },
      ...{ provider: "scripted", model: place.arguments[place.arguments.indexOf("--model") + 1] },
      startSubagentHost: (request) => {
        const onEvent = (event: SessionEvent) => {
          events.push(event);
          return request.onEvent(event);
        };
        const host = { options: readHostLine([]), environment };
        return startSubagentHost({ ...request, onEvent }, host);
      },
    });
    onTestFinished(() => session.dispose());
    await session.prompt("start");
    const end = events.find(({ type }) => type === "tool_execution_end");
    expect(JSON.stringify(end)).toMatch(problem);
  });
});
