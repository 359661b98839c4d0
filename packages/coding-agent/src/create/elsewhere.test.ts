import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { WorkspaceProcess, WorkspaceSpawnOptions } from "@tau-agent/rpc-protocol/workspace";
import { expect, it } from "vitest";
import { createHostModules } from "../pi-modules/host-modules.ts";
import { MemoryWorkspace } from "../resources/__fixtures__/memory-workspace.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "./options/session-options.ts";

/** Creates a typical remote project: instructions, settings, skills, agents, an extension, a server. */
function plant(there: MemoryWorkspace, cwd: string): void {
  const put = (path: string, text: string) => there.put(join(cwd, path), text);
  there.folder(join(dirname(cwd), ".git"));
  there.put(join(dirname(cwd), "AGENTS.md"), "REPO THERE");
  put("AGENTS.md", "PROJECT THERE");
  put(".pi/settings.json", '{"shellCommandPrefix":"true there","packages":["npm:p"]}');
  put(".pi/skills/one/SKILL.md", "---\ndescription: SKILL THERE\n---\n");
  put(".pi/skills/two/SKILL.md", "---\ndescription: OTHER THERE\n---\n");
  put(".agents/skills/three/SKILL.md", "---\ndescription: THIRD THERE\n---\n");
  put(".pi/agents/sewer.md", "---\ndescription: AGENT THERE\n---\nSew.");
  put(".pi/extensions/x.ts", "throw new Error('loaded')");
  put(".mcp.json", '{"mcpServers":{"local":{"command":"touch","args":["x"]}}}');
}

/** Creates other files with the same paths on this machine. */
function plantHere(cwd: string): void {
  const files = {
    "AGENTS.md": "DECOY",
    ".pi/settings.json": '{"shellCommandPrefix":"decoy"}',
    ".pi/SYSTEM.md": "DECOY",
    ".pi/agents/sewer.md": "---\ndescription: DECOY\n---\n",
    ".pi/extensions/x.ts": "throw new Error('DECOY')",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
}

async function open(there: MemoryWorkspace, options: Partial<CreateAgentSessionOptions>) {
  const requests: string[] = [];
  const test = await createTestSession(
    (request) => {
      requests.push(JSON.stringify([request.systemPrompt, request.tools]));
      return "done";
    },
    { extensions: { hostModules: async () => ({}) }, ...options, workspace: there },
  );
  return { ...test, requests };
}

it("takes texts, settings and agents from the remote workspace, and nothing from the same path on this machine", async () => {
  const places = placesIn(temporaryFolder());
  const { cwd } = places;
  const there = new MemoryWorkspace({ cwd });
  plant(there, cwd);
  plantHere(cwd);
  const { session, parts, requests } = await open(there, { ...places, trustProject: true });
  await session.prompt("Hello");
  const [request = ""] = requests;
  for (const text of ["REPO", "PROJECT", "SKILL", "OTHER", "THIRD", "AGENT"]) {
    expect(request).toContain(`${text} THERE`);
  }
  expect(request).not.toContain("DECOY");
  const found = session.diagnostics.filter(({ code }) => code === "extensions_elsewhere");
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringContaining(`are not loaded: ${cwd}/.pi/extensions, npm:p.`),
  ]);
  expect(parts.inputs).toBeDefined();
});

it("needs at most six rounds to a remote project until the first request", async () => {
  const places = placesIn(temporaryFolder());
  const { cwd } = places;
  const there = new MemoryWorkspace({ cwd });
  plant(there, cwd);
  there.put(join(cwd, ".pi/skills/four/SKILL.md"), "---\ndescription: FOURTH THERE\n---\n");
  const agentDirectory = places.agentDirectory ?? "";
  mkdirSync(agentDirectory, { recursive: true });
  // The project is trusted by a saved decision, so its files are also compared with the saved digest.
  writeFileSync(
    join(agentDirectory, "workspace-trust.json"),
    JSON.stringify({ [`ws-memory:${cwd}`]: true }),
  );
  there.delayMs = 100;
  const { session, requests } = await open(there, places);
  await session.prompt("Hello");
  expect(requests[0]).toContain("FOURTH THERE");
  expect(requests[0]).toContain("AGENT THERE");
  expect(there.rounds).toBeLessThanOrEqual(6);
  const asked = there.calls.length;
  await session.prompt("Again");
  expect(there.calls.length).toBe(asked);
});

it("looks for the jobs of an earlier host in a continued session, and not in a new one", async () => {
  const places = placesIn(temporaryFolder());
  const there = Object.assign(new MemoryWorkspace({ cwd: places.cwd }), { durable: {} as never });
  const asked = async (session: CreateAgentSessionOptions["session"]) => {
    there.calls = [];
    const { session: opened } = await open(there, { ...places, session });
    await new Promise((resolve) => setImmediate(resolve));
    await opened.prompt("Hello");
    await opened.dispose();
    return there.calls.filter((call) => call.includes("/jobs/")).length;
  };
  expect(await asked({ kind: "new", id: "a-session" })).toBe(0);
  expect(await asked({ kind: "id", id: "a-session" })).toBeGreaterThan(0);
});

it("runs programs of extensions in the workspace", async () => {
  const places = placesIn(temporaryFolder());
  const { cwd } = places;
  const there = new MemoryWorkspace({ cwd });
  const started: WorkspaceSpawnOptions[] = [];
  const spawn = async (options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> => {
    started.push(options);
    await options.onOutput(Buffer.from("there"), "stdout");
    const nothing = async () => {};
    const done = Promise.resolve({ exitCode: 0 });
    return { write: nothing, endInput: nothing, kill: nothing, done };
  };
  const { session } = await open(Object.assign(there, { spawn }), {
    ...places,
    extensions: {
      hostModules: async () => ({}),
      factories: [
        (pi) =>
          pi.registerCommand("run", {
            handler: async (_, ctx) => {
              const { stdout } = await pi.exec("touch", ["here"], { cwd: "sub" });
              pi.setSessionName(stdout);
              await ctx.workspace.write(join(ctx.cwd, "made.txt"), Buffer.from("made"));
            },
          }),
      ],
    },
  });
  await session.prompt("/run");
  expect(session.log.name).toBe("there");
  expect(started).toMatchObject([{ command: ["touch", "here"], cwd: join(cwd, "sub") }]);
  expect(String(await there.read(join(cwd, "made.txt")))).toBe("made");
  expect(existsSync(join(cwd, "made.txt"))).toBe(false);
});

it("runs tools made by pi's factories in the workspace, even without the context", async () => {
  const places = placesIn(temporaryFolder());
  const { cwd, agentDirectory = "" } = places;
  const there = new MemoryWorkspace({ cwd: "/project" });
  there.put("/project/text.txt", "of that machine");
  writeFileSync(join(cwd, "text.txt"), "of this machine");
  mkdirSync(join(agentDirectory, "extensions"), { recursive: true });
  writeFileSync(
    join(agentDirectory, "extensions", "wrapped.ts"),
    `import { createReadTool, createWriteTool } from "@mariozechner/pi-coding-agent";
    const made = [createReadTool(${JSON.stringify(cwd)}), createWriteTool(${JSON.stringify(cwd)}, {
      operations: { mkdir: async () => {} },
    })];
    export default (pi) => {
      for (const tool of made)
        pi.registerTool({ ...tool, execute: (id, params) => tool.execute(id, params) });
    };`,
  );
  const hostModules = async () => createHostModules({ cwd, agentDirectory, version: "1" });
  const { session } = await createTestSession(
    [
      turn(toolCall("read", { path: "text.txt" })),
      turn(toolCall("write", { path: "new.txt", content: "new" })),
      "done",
    ],
    { ...places, cwd: "/project", extensions: { hostModules }, workspace: there },
  );
  expect(session.diagnostics).toEqual([]);
  await session.prompt("go");
  expect(JSON.stringify(session.messages)).toContain("of that machine");
  expect(String(await there.read("/project/new.txt"))).toBe("new");
  expect(existsSync(join(cwd, "new.txt"))).toBe(false);
});

it.each([
  ["/project/gone", "Invalid option cwd: there is no folder /project/gone in workspace ws-memory"],
  ["/project/file", "Invalid option cwd: /project/file in workspace ws-memory is not a folder"],
])("refuses to open in %s, which is not a folder in the workspace", async (cwd, message) => {
  const there = new MemoryWorkspace({ cwd: "/project" });
  there.put("/project/file", "text");
  const opening = open(there, { cwd });
  await expect(opening).rejects.toMatchObject({ code: "invalid_option", message });
});
