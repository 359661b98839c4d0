import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { turn } from "@tau-agent/ai/testing";
import { createLocalWorkspace } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { nextLike } from "../support/next-like.ts";
import { makePlace } from "../support/place.ts";
import { playSuite, type SuiteSetup } from "../support/played-suite.ts";
import { call, git } from "../support/repository-place.ts";
import { sshIsMissing, startSshServer } from "../support/ssh-server.ts";
import { binPath, runHost, startHost } from "../support/start-host.ts";
import { elsewhere } from "../support/tool-suite.ts";

const execServer = [process.execPath, binPath, "exec-server"];
const shell = ["sh", "-c"];

const specs = [
  ["an exec server", (cwd: string) => ({ command: execServer, cwd })],
  ["a shell", (cwd: string) => ({ shell, cwd })],
] as const;

const specOption = (spec: object) => ["--workspace", JSON.stringify(spec)];

/** The forms of a workspace, including one that a client serves. */
const ways: [string, () => SuiteSetup][] = [
  ...specs.map(([name, specOf]): [string, () => SuiteSetup] => [
    name,
    () => ({ words: (there) => specOption(specOf(there)) }),
  ]),
  [
    "its client",
    () => {
      const homeDirectory = elsewhere();
      return {
        words: (cwd) => specOption({ client: true, cwd }),
        workspace: (cwd) => createLocalWorkspace({ cwd, homeDirectory }),
      };
    },
  ],
];

/** What the model and the client receive in a local workspace. */
let toldHere: Promise<string> | undefined;

/** Plays the suite locally and in a workspace, and compares the results. */
async function isAsHere(setup: SuiteSetup): Promise<void> {
  toldHere ??= playSuite({ words: (there) => ["--cwd", there] }).then(({ told }) => told);
  const played = await playSuite(setup);
  expect(played.told).toBe(await toldHere);
  const { place, there, state, sessionFile = "" } = played;
  const id = expect.stringMatching(/^ws-[0-9a-f]{12}$/);
  expect(state).toMatchObject({ id, cwd: there, status: "connected" });
  expect(new Set(played.asked)).toEqual(new Set([state?.id]));
  expect(readFileSync(join(there, "a.txt"), "utf8")).toBe("one\n");
  // Each prompt was reverted.
  expect(git(there, "status", "--porcelain")).toBe("");
  // The local project is unchanged, and there is no worktree here.
  expect(git(place.cwd, "status", "--porcelain")).toBe("");
  expect(existsSync(join(place.folder, "agent", "worktrees"))).toBe(false);
  const [header = ""] = readFileSync(String(sessionFile), "utf8").split("\n");
  expect(JSON.parse(header)).toMatchObject({ cwd: there, workspace: { id: state?.id } });
  expect(sessionFile).toContain(`/${state?.id}--`);
}

describe("a session elsewhere reports the same as a local one, byte for byte, and leaves its own folder alone", () => {
  it.each(ways)("behind %s", (_, setup) => isAsHere(setup()));
});

describeWith(sshIsMissing)("a session whose project is reached over ssh does the same", () => {
  it.each(["shell", "command"] as const)("with the form %s", { timeout: 400_000 }, async (form) => {
    const ssh = await startSshServer();
    // ssh passes the command to a shell on that machine, so each word is quoted.
    const server = execServer.map((word) => `'${word}'`).join(" ");
    const way = form === "shell" ? { shell: ssh } : { command: [...ssh, server] };
    await isAsHere({ words: (cwd) => specOption({ ...way, cwd }) });
  });
});

describe.each(specs)("what is behind %s", (_, specOf) => {
  it("resolves files on the command line, and keeps long outputs where the model can read them", async () => {
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

it("continues only sessions of the same workspace", async () => {
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

describe("an unusable workspace", () => {
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
  ])("%s prevents the start with a clear error", async (workspace, exitCode, text) => {
    const { code, stderr } = await run(workspace);
    expect(stderr).toMatch(text);
    expect(code).toBe(exitCode);
  });
});

describe("open_session with a workspace", () => {
  it("accepts a name from the user's settings, and nothing else in a sandbox", async () => {
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
