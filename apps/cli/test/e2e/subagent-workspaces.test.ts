import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAgentSession } from "@tau-agent/coding-agent";
import { RpcClient } from "@tau-agent/rpc-client";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { createLocalWorkspace } from "@tau-agent/system";
import { describe, expect, it, onTestFinished } from "vitest";
import { readHostLine } from "../../src/command-line/read-host-line.ts";
import { environmentFrom } from "../../src/process/environment.ts";
import { startSubagentHost } from "../../src/session/subagent-host.ts";
import { nextLike } from "../support/next-like.ts";
import { call, git, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, startHost } from "../support/start-host.ts";
import { elsewhere } from "../support/tool-suite.ts";

const verify = { commands: [{ name: "there", command: "grep -q nested made.txt" }] };

/** An isolated subagent that has another one write a file; both report their folder. */
const scenario = [
  ...worker("<inner>", call("bash", { command: "echo nested >made.txt; pwd" })),
  ...worker("<outer>", call("task", { task: "<inner>" })),
  ...worker("start", call("task", { task: "<outer>", isolated: true, verify })),
];
const settings = { "task.verification.enabled": true, "task.maxRecursionDepth": 3 };

/** A project that exists only in the workspace, and a program that logs each host it starts. */
function project() {
  const there = elsewhere();
  git(there, "init", "-q");
  git(there, "add", "-A");
  git(there, "commit", "-qm", "first");
  const log = join(there, "..", `${there.split("/").at(-1)}.hosts`);
  const script = `echo "$@" >>"${log}"; exec "${process.execPath}" "${binPath}" "$@"`;
  const command = ["/bin/sh", "-c", script, "sh"];
  const started = () => readFileSync(log, "utf8").trim().split("\n");
  const place = repositoryPlace(scenario, { ...settings, "task.command": command });
  return { there, started, place };
}

const specs = [
  [
    "an exec server",
    (cwd: string) => ({ command: [process.execPath, binPath, "exec-server"], cwd }),
  ],
  ["a shell", (cwd: string) => ({ shell: ["sh", "-c"], cwd })],
] as const;

describe("subagents in their own processes", () => {
  it.each(specs)("work in their caller's workspace behind %s", async (_, specOf) => {
    const { there, started, place } = project();
    const args = [...place.arguments, "--workspace", JSON.stringify(specOf(there))];
    const host = startHost({}, { place: { ...place, arguments: args } });
    host.send({ type: "prompt", message: "start", id: "p" });
    await nextLike(host, { type: "subagent_verification_end", status: "passed" });
    await nextLike(host, { type: "prompt_result", status: "completed" });
    expect(readFileSync(join(there, "made.txt"), "utf8")).toBe("nested\n");
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
    const hosts = started();
    expect(hosts).toHaveLength(2);
    host.send({ type: "get_state", id: "s" });
    const { data } = await nextLike(host, { type: "response", id: "s" });
    const { workspace } = data as { workspace: { id: string } };
    for (const words of hosts) expect(words).toContain(`"id":"${workspace.id}"`);
  });

  it.each([
    ["a host on stdin", []],
    ["a host with many sessions", ["--sessions"]],
    ["a session with a process of its own", ["--sessions", "--isolate", "process"]],
  ])("work in the workspace of the client of %s", async (_, words) => {
    const { there, started, place } = project();
    const spec = { client: true, cwd: there } as const;
    const isMany = words.length > 0;
    const client = new RpcClient({
      command: [process.execPath, binPath, ...place.arguments],
      args: isMany ? words : ["--workspace", JSON.stringify(spec)],
      cwd: place.cwd,
      env: { ...place.variables, NODE_OPTIONS: process.env.NODE_OPTIONS },
      workspace: createLocalWorkspace({ cwd: there }),
    });
    onTestFinished(async () => void (await client.stop()));
    await client.start();
    const session = isMany ? await client.openSession({ workspace: spec }) : client;
    expect(await session.promptAndWait("start")).toMatchObject({ status: "completed" });
    expect(readFileSync(join(there, "made.txt"), "utf8")).toBe("nested\n");
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
    expect(started()).toHaveLength(2);
  });

  it("work in the workspace object that a program gives its session", async () => {
    const { there, started, place } = project();
    const workspace: Workspace = createLocalWorkspace({ cwd: there });
    Object.defineProperty(workspace, "id", { value: "a box of ours" });
    const [provider, , model] = place.arguments.slice(place.arguments.indexOf("--provider") + 1);
    const environment = {
      ...environmentFrom({ ...place.variables, NODE_OPTIONS: process.env.NODE_OPTIONS }),
      cwd: place.cwd,
      program: [process.execPath, binPath],
    };
    const options = readHostLine([]);
    const session = await createAgentSession({
      ...{ workspace, provider, model, environment: environment.variables },
      agentDirectory: environment.agentDirectory,
      startSubagentHost: (request) =>
        startSubagentHost(request, {
          options,
          environment: {
            ...environment,
            subagentKey: undefined,
            sessionHandle: undefined,
          },
        }),
    });
    onTestFinished(() => session.dispose());
    expect(await session.prompt("start")).toMatchObject({ status: "completed" });
    expect(readFileSync(join(there, "made.txt"), "utf8")).toBe("nested\n");
    for (const words of started()) expect(words).toContain('"id":"a box of ours"');
  });

  it("are not started in a host that omits the workspace from its arguments", async () => {
    const there = elsewhere();
    const drop =
      'for w; do shift; [ "$w" = --workspace ] && x=1 && continue; [ "$x" = 1 ] && x= && continue; set -- "$@" "$w"; done';
    const command = [
      "/bin/sh",
      "-c",
      `${drop}; exec "${process.execPath}" "${binPath}" "$@"`,
      "sh",
    ];
    const task = call("task", { task: "<outer>" });
    const writes = worker("<outer>", call("write", { path: "made.txt", content: "here" }));
    const place = repositoryPlace([...writes, ...worker("start", task)], {
      "task.command": command,
    });
    const spec = JSON.stringify({ shell: ["sh", "-c"], cwd: there });
    const args = [...place.arguments, "--workspace", spec];
    const host = startHost({}, { place: { ...place, arguments: args } });
    host.send({ type: "prompt", message: "start", id: "p" });
    const { result } = await nextLike(host, { type: "tool_execution_end", isError: true });
    expect(JSON.stringify(result)).toContain("do not act in this session's workspace");
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
  });
});
