import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { nextLike } from "../support/next-like.ts";
import { makePlace } from "../support/place.ts";
import { call, git, repositoryPlace, worker } from "../support/repository-place.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";
import { elsewhere, toolSuite } from "../support/tool-suite.ts";

const execServer = [process.execPath, binPath, "exec-server"];
const shell = ["sh", "-c"];

const specs = [
  ["an exec server", (cwd: string) => ({ command: execServer, cwd })],
  ["a shell", (cwd: string) => ({ shell, cwd })],
] as const;

async function resultsOf(host: ReturnType<typeof startHost>): Promise<string[]> {
  host.send({ id: "p", type: "prompt", message: "Go" });
  await nextLike(host, { type: "prompt_result", id: "p" });
  host.send({ id: "m", type: "get_messages" });
  const { data } = await nextLike(host, { id: "m", type: "response" });
  const { messages } = data as { messages: { role: string; content: { text: string }[] }[] };
  return messages
    .filter(({ role }) => role === "toolResult")
    .map(({ content }) => content[0]?.text ?? "");
}

describe.each(specs)("a session whose workspace is behind %s", (_, specOf) => {
  it("acts there as it would here, and leaves its own folder alone", async () => {
    const there = elsewhere();
    const here = elsewhere();
    const local = startHost({ scenario: toolSuite, arguments: ["--cwd", here] });
    const expected = (await resultsOf(local)).map((text) => text.replaceAll(here, there));
    const host = startHost({
      scenario: toolSuite,
      arguments: ["--workspace", JSON.stringify(specOf(there))],
    });
    // Nobody may write into the folder that the host is in.
    chmodSync(host.place.cwd, 0o555);
    expect(await resultsOf(host)).toEqual(expected);
    expect(readFileSync(join(there, "a.txt"), "utf8")).toBe("two\n");
    expect(readFileSync(join(there, "new/b.txt"), "utf8")).toBe("b");
    expect(existsSync(join(host.place.cwd, "new"))).toBe(false);
    host.send({ id: "s", type: "get_state" });
    const { data } = await nextLike(host, { id: "s", type: "response" });
    const { workspace, sessionFile } = data as { workspace: object; sessionFile: string };
    const kind = "command" in specOf(there) ? "command" : "shell";
    expect(workspace).toMatchObject({ kind, cwd: there, status: "connected" });
    const { id } = workspace as { id: string };
    expect(id).toMatch(/^ws-[0-9a-f]{12}$/);
    const [header = ""] = readFileSync(sessionFile, "utf8").split("\n");
    expect(JSON.parse(header)).toMatchObject({ cwd: there, workspace: { id } });
    expect(sessionFile).toContain(`/${id}--`);
    chmodSync(host.place.cwd, 0o755);
  });
});

describe.each(specs)("a repository that is behind %s", (_, specOf) => {
  it("has isolated tasks verified and merged there, and prompts taken back", async () => {
    const there = elsewhere();
    git(there, "init", "-q");
    git(there, "add", "-A");
    git(there, "commit", "-qm", "first");
    const verify = { commands: [{ name: "there", command: "ls made.txt && pwd" }] };
    const place = repositoryPlace(
      [
        ...worker("<w1>", call("write", { path: "made.txt", content: "made\n" })),
        ...worker("start", call("task", { task: "<w1>", isolated: true, verify })),
      ],
      { "task.verification.enabled": true, "rewind.enabled": true },
    );
    const workspace = ["--workspace", JSON.stringify(specOf(there))];
    const host = startHost(
      {},
      { place: { ...place, arguments: [...place.arguments, ...workspace] } },
    );
    host.send({ type: "prompt", message: "start", id: "p" });
    await nextLike(host, { type: "subagent_verification_end", status: "passed" });
    await nextLike(host, { type: "prompt_result", status: "completed" });
    expect(readFileSync(join(there, "made.txt"), "utf8")).toBe("made\n");
    expect(git(there, "status", "--porcelain")).toBe("?? made.txt\n");
    host.send({ type: "list_checkpoints", id: "l" });
    const { data } = await nextLike(host, { type: "response", id: "l" });
    const { checkpoints } = data as { checkpoints: { entryId: string }[] };
    host.send({ type: "rewind", entryId: checkpoints[0]?.entryId, id: "r" });
    expect(await nextLike(host, { type: "response", id: "r" })).toMatchObject({
      data: { files: { changed: [{ path: "made.txt", change: "deleted" }], conflicts: [] } },
    });
    expect(git(there, "status", "--porcelain")).toBe("");
    // The project of the same name here is as it was, and nothing of the other one is with it.
    expect(git(place.cwd, "status", "--porcelain")).toBe("");
    expect(existsSync(join(place.folder, "agent", "worktrees"))).toBe(false);
    expect((await host.finish()).code).toBe(0);
  });
});

describe.each(specs)("what is behind %s", (_, specOf) => {
  it("are the files named on the command line, and long outputs, which the model can read", async () => {
    const there = elsewhere();
    const scenario = [
      {
        when: { lastUserIncludes: "one\n", hasToolResults: false },
        content: call("bash", { command: "seq 30000" }),
      },
      {
        when: { hasToolResults: true },
        content: [
          {
            type: "toolCall",
            name: "bash",
            arguments: { command: "head -n 1 ~/.cache/tau/outputs/*; ls -ld ~/.cache/tau" },
          },
        ],
        repeat: false,
      },
      turn("Done."),
    ] as never;
    const words = [
      "--workspace",
      JSON.stringify(specOf(there)),
      "--mode",
      "json",
      "-p",
      "@a.txt",
      "Look",
    ];
    const { stdout, code } = await runHost({ scenario, arguments: words });
    expect(code).toBe(0);
    expect(stdout).toContain(`<file name=\\"${there}/a.txt\\">`);
    const [path = ""] = /[^"\s]+\/\.cache\/tau\/outputs\/pi-bash-\w+\.log/.exec(stdout) ?? [];
    expect(readFileSync(path, "utf8")).toMatch(/^1\n2\n/);
    expect(stdout).toMatch(/drwx------/);
  });
});

it("continues the session of a workspace there only", async () => {
  const there = elsewhere();
  const place = makePlace({ scenario: [turn("First."), turn("Second.")] });
  const workspace = ["--workspace", JSON.stringify({ command: execServer, cwd: there })];
  const stateOf = async (words: string[]) => {
    const host = startHost(
      {},
      { place: { ...place, arguments: [...place.arguments, ...words], remove: () => {} } },
    );
    host.send({ id: "p", type: "prompt", message: "Go" });
    await nextLike(host, { type: "prompt_result" });
    host.send({ id: "s", type: "get_state" });
    const { data } = await nextLike(host, { id: "s", type: "response" });
    host.child.stdin.end();
    await host.ended;
    const { sessionId, sessionFile } = data as { sessionId: string; sessionFile: string };
    return { sessionId, sessionFile };
  };
  const first = await stateOf(workspace);
  expect(await stateOf([...workspace, "--continue"])).toEqual(first);
  const { sessionId } = await stateOf(["--continue"]);
  expect(sessionId).not.toBe(first.sessionId);
  const refused = startHost(
    {},
    { place: { ...place, arguments: [...place.arguments, "--session", first.sessionFile] } },
  );
  expect((await refused.ended).code).toBe(1);
  expect(refused.stderr).toMatch(/works in workspace ws-[0-9a-f]{12}, not in local/);
});

describe("a workspace that cannot be had", () => {
  const run = (workspace: string) => runHost({ arguments: ["--workspace", workspace] });

  it.each([
    [JSON.stringify({ command: ["tau-no-such-program"], cwd: "/" }), 5, /was not found/],
    [JSON.stringify({ command: ["sh", "-c", "echo no key >&2; exit 9"], cwd: "/" }), 5, /no key/],
    [JSON.stringify({ shell: ["sh", "-c", "exit 7 #"], cwd: "/" }), 5, /cannot be reached/],
    ["box", 1, /name no workspace "box"/],
    ["{", 1, /it is no JSON/],
    [JSON.stringify({ command: ["a"], shell: ["b"], cwd: "/" }), 1, /workspace\.shell/],
    [JSON.stringify({ command: ["a"], cwd: "relative" }), 1, /absolute path/],
    [JSON.stringify({ command: ["a"], cwd: "/", id: "mine" }), 1, /only the settings/],
  ])("%s ends the start with a clear error", async (workspace, exitCode, text) => {
    const { code, stderr } = await run(workspace);
    expect(stderr).toMatch(text);
    expect(code).toBe(exitCode);
  });
});

describe("open_session with a workspace", () => {
  it("takes a name of the user's settings, and only that in a sandbox", async () => {
    const there = elsewhere();
    const place = makePlace({ arguments: ["--sessions"] });
    const agentDirectory = String(
      place.variables.PI_CODING_AGENT_DIR ?? join(String(place.variables.HOME), ".pi", "agent"),
    );
    mkdirSync(agentDirectory, { recursive: true });
    const settings = (more: object) =>
      writeFileSync(
        join(agentDirectory, "settings.json"),
        JSON.stringify({ workspaces: { box: { command: execServer, id: "box" } }, ...more }),
      );
    settings({});
    const host = startHost({}, { place });
    const open = async (id: string, params: object) => {
      host.send({ id, type: "open_session", ...params });
      return nextLike(host, { id, type: "response" });
    };
    expect(await open("1", { workspace: "box", cwd: there })).toMatchObject({
      data: { state: { workspace: { id: "box", kind: "command", cwd: there } } },
    });
    const spec = { command: execServer, cwd: there };
    expect(await open("2", { workspace: spec })).toMatchObject({ success: true });
    expect(await open("3", { workspace: { command: ["tau-none"], cwd: there } })).toMatchObject({
      code: "workspace_unreachable",
    });
    settings({ sandbox: { mode: "workspace" } });
    expect(await open("4", { workspace: spec })).toMatchObject({ code: "policy_denied" });
    expect(await open("5", { workspace: "box", cwd: there })).toMatchObject({ success: true });
    const shell = { shell: ["sh", "-c"], id: "shell" };
    settings({ sandbox: { mode: "workspace" }, workspaces: { shell } });
    expect(await open("6", { workspace: "shell", cwd: there })).toMatchObject({
      code: "sandbox_unavailable",
      error: expect.stringContaining("exec-server"),
    });
  });
});
