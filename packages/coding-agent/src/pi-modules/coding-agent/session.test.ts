import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import {
  type Scenario,
  scriptedModel,
  scriptedProvider,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { placesIn, temporaryFolder } from "../../create/__fixtures__/test-session.ts";
import { createHostModules } from "../host-modules.ts";

/** pi's module for extensions, with scripted replies. */
async function open(scenario: Scenario = []) {
  const folder = temporaryFolder();
  const { cwd } = placesIn(folder);
  const modules = createHostModules({
    cwd,
    agentDirectory: join(folder, "agent"),
    homeDirectory: folder,
    temporaryDirectory: folder,
    environment: { PATH: process.env.PATH },
    version: "1.2.3",
  });
  const provider = scriptedProvider(scenario);
  const openStream = createStream({ providers: { scripted: async () => provider } });
  // biome-ignore lint/suspicious/noExplicitAny: extensions use these modules untyped, as this test does
  const pi = ((await modules["@earendil-works/pi-coding-agent"]?.()) ?? {}) as any;
  return { folder, cwd, pi, model: scriptedModel(), modelRegistry: { openStream } };
}

it("controls a session inside this process with pi's members", async () => {
  const { pi, cwd, ...given } = await open([
    turn([toolCall("look", { at: "it" })]),
    "seen",
    "again",
  ]);
  const calls: unknown[] = [];
  const look = {
    name: "look",
    label: "Look",
    description: "Looks",
    parameters: { type: "object", properties: { at: { type: "string" } } },
    execute: async (
      _id: string,
      params: unknown,
      ...[, , context]: [unknown, unknown, { cwd: string; hasUI: boolean }]
    ) => {
      calls.push([params, context.cwd, context.hasUI]);
      return { content: [{ type: "text", text: "there" }], details: {} };
    },
  };
  const { session } = await pi.createAgentSession({
    ...given,
    cwd,
    sessionManager: pi.SessionManager.inMemory(cwd),
    settingsManager: pi.SettingsManager.inMemory({ compaction: { enabled: false } }),
    customTools: [look],
    noTools: "builtin",
  });
  session.setSessionName("scout");
  await session.bindExtensions({});
  const types: string[] = [];
  session.subscribe(({ type }: { type: string }) => types.push(type));
  expect(await session.prompt("go")).toBeUndefined();
  expect(calls).toEqual([[{ at: "it" }, cwd, false]]);
  expect(types).toContain("tool_execution_end");
  expect(session.getActiveToolNames()).toEqual(["look"]);
  expect(session.getLastAssistantText()).toBe("seen");
  expect(session.getSessionStats()).toMatchObject({ userMessages: 1, toolCalls: 1 });
  const { sessionName, isIdle, sessionFile } = session;
  expect([sessionName, isIdle, sessionFile]).toEqual(["scout", true, undefined]);
  expect(session.sessionManager.getEntries()).toHaveLength(session.log.tree.entries.length);
  expect(session.model.id).toBe(given.model.id);
  expect([session.autoCompactionEnabled, session.autoRetryEnabled]).toEqual([false, true]);
  await session.steer("more", []);
  await session.waitForIdle();
  expect(session.getLastAssistantText()).toBe("again");
  expect(existsSync(join(given.folder, "agent", "sessions"))).toBe(false);
  await session.dispose();
});

it("shows queued prompts, models to cycle through and commands as they are", async () => {
  const { pi, cwd, model, ...given } = await open(["one", "two"]);
  mkdirSync(join(cwd, ".pi", "prompts"), { recursive: true });
  writeFileSync(join(cwd, ".pi", "prompts", "greet.md"), "Say hello");
  const { session } = await pi.createAgentSession({
    ...given,
    model,
    cwd,
    sessionManager: pi.SessionManager.inMemory(cwd),
  });
  expect(session.promptTemplates).toMatchObject([{ name: "greet" }]);
  expect([session.hasExtensionHandlers("agent_end"), session.retryAttempt]).toEqual([false, 0]);
  session.setScopedModels([{ model }]);
  expect(session.scopedModels).toEqual([{ model }]);
  const seen: unknown[] = [];
  session.subscribe(({ type }: { type: string }) => {
    if (type !== "turn_start" || seen.length > 0) return;
    session.followUp("later");
    setTimeout(() => seen.push(session.getSteeringMessages(), session.getFollowUpMessages()));
    return new Promise((resolve) => setTimeout(resolve, 20));
  });
  await session.prompt("now");
  expect(seen).toEqual([[], ["later"]]);
  expect(session.getFollowUpMessages()).toEqual([]);
  await session.reload();
  await session.dispose();
});

it("continues a session in its manager's file, and lets managers read and write files", async () => {
  const { pi, cwd, folder, ...given } = await open(["one", "two"]);
  const { SessionManager, createAgentSession } = pi;
  const directory = join(folder, "own");
  const first = SessionManager.create(cwd, directory);
  first.appendCustomEntry("mark", { n: 1 });
  const { session } = await createAgentSession({ ...given, cwd, sessionManager: first });
  await session.prompt("hi");
  expect(session.sessionFile).toBe(first.getSessionFile());
  await session.dispose();

  const file = SessionManager.continueRecent(cwd, directory).getSessionFile();
  expect(file).toBe(session.sessionFile);
  const opened = SessionManager.open(file);
  expect(opened.getEntries()[0]).toMatchObject({ type: "custom", customType: "mark" });
  opened.appendSessionInfo("renamed");
  expect(SessionManager.open(file).getSessionName()).toBe("renamed");
  const again = await createAgentSession({
    ...given,
    cwd,
    sessionManager: SessionManager.open(file),
  });
  await again.session.prompt("hi again");
  expect(again.session.messages).toHaveLength(4);
  await again.session.dispose();

  const planned = SessionManager.open(join(directory, "planned", "x.jsonl"), undefined, cwd);
  planned.appendMessage({ role: "user", content: "first", timestamp: 1 });
  expect(SessionManager.open(planned.getSessionFile()).getEntries()).toHaveLength(1);

  const copy = SessionManager.forkFrom(file, cwd, directory);
  expect(copy.getHeader().parentSession).toBe(file);
  const [message] = copy.getEntries().filter(({ type }: { type: string }) => type === "message");
  copy.branch(message.id);
  copy.appendMessage({ role: "user", content: "another way", timestamp: 1 });
  const written = readFileSync(copy.getSessionFile(), "utf8").trimEnd().split("\n");
  expect(JSON.parse(written.at(-1) ?? "")).toMatchObject({ parentId: message.id });
  const branched = copy.createBranchedSession(message.id);
  expect(copy.getEntries().at(-1)).toMatchObject({ id: message.id });
  // Another program may continue the file immediately.
  const next = await createAgentSession({
    ...given,
    cwd,
    sessionManager: SessionManager.open(branched),
  });
  expect(next.session.sessionFile).toBe(branched);
  await next.session.dispose();
  const sessions = await SessionManager.list(cwd, directory);
  expect(sessions).toHaveLength(3);
});

it("gives a session exactly the texts that its reloaded loader found", async () => {
  const { pi, cwd, folder, ...given } = await open();
  mkdirSync(join(folder, "agent", "skills", "sew"), { recursive: true });
  writeFileSync(
    join(folder, "agent", "skills", "sew", "SKILL.md"),
    "---\nname: sew\ndescription: Sews.\n---\n",
  );
  writeFileSync(join(cwd, "AGENTS.md"), "Be tidy.");
  const promptWith = async (options: object) => {
    const resourceLoader = new pi.DefaultResourceLoader({ cwd, ...options });
    await resourceLoader.reload();
    const sessionManager = pi.SessionManager.inMemory();
    const { session } = await pi.createAgentSession({
      ...given,
      cwd,
      sessionManager,
      resourceLoader,
    });
    const text: string = await session.buildSystemPrompt();
    await session.dispose();
    return { text, loader: resourceLoader };
  };
  const { text, loader } = await promptWith({});
  expect(loader.getSkills().skills).toMatchObject([{ name: "sew" }]);
  expect(loader.getAgentsFiles().agentsFiles).toMatchObject([{ content: "Be tidy." }]);
  expect(text).toContain("Sews.");
  expect(text).toContain("Be tidy.");
  const bare = await promptWith({
    noSkills: true,
    agentsFilesOverride: () => ({ agentsFiles: [{ path: "x", content: "Be quick." }] }),
  });
  expect(bare.text).not.toContain("Sews.");
  expect(bare.text).not.toContain("Be tidy.");
  expect(bare.text).toContain("Be quick.");
});

it("gives a session the extensions of its loader, both files and functions", async () => {
  const { pi, cwd, folder, ...given } = await open([turn([toolCall("add", {})]), "done"]);
  const heard: string[] = [];
  const add = (pi: {
    registerTool(tool: object): void;
    on(name: string, handler: (event: { toolName: string }) => void): void;
  }) => {
    pi.registerTool({
      name: "add",
      description: "Adds",
      parameters: { type: "object", properties: {} },
      execute: async () => ({ content: [{ type: "text", text: "added" }] }),
    });
    pi.on("tool_result", ({ toolName }) => heard.push(toolName));
  };
  const file = join(folder, "shout.ts");
  writeFileSync(
    file,
    `export default (pi) => pi.on("before_agent_start", () => ({ systemPrompt: "LOUD" }));`,
  );
  const resourceLoader = new pi.DefaultResourceLoader({
    cwd,
    noExtensions: true,
    additionalExtensionPaths: [file],
    extensionFactories: [add],
  });
  await resourceLoader.reload();
  const sessionManager = pi.SessionManager.inMemory(cwd);
  const { session } = await pi.createAgentSession({
    ...given,
    cwd,
    sessionManager,
    resourceLoader,
    excludeTools: ["task"],
  });
  expect(session.getActiveToolNames()).toContain("add");
  expect(session.getActiveToolNames()).not.toContain("task");
  await session.prompt("go");
  expect(heard).toEqual(["add"]);
  expect(session.getLastAssistantText()).toBe("done");
  expect(session.diagnostics).toEqual([]);
  await session.dispose();
});

it("provides models and keys without a session, and finds them by name", async () => {
  const { pi, folder } = await open();
  mkdirSync(join(folder, "agent"), { recursive: true });
  const models = [{ id: "small" }, { id: "large" }];
  const local = {
    baseUrl: "http://127.0.0.1:1/v1",
    api: "openai-completions",
    apiKey: "k",
    models,
  };
  writeFileSync(
    join(folder, "agent", "models.json"),
    JSON.stringify({ providers: { near: local } }),
  );
  const modelRuntime = await pi.ModelRuntime.create();
  const resolve = (cliModel: string) => pi.resolveCliModel({ cliModel, modelRuntime });
  expect(resolve("near/small:high")).toMatchObject({
    model: { provider: "near", id: "small" },
    thinkingLevel: "high",
  });
  expect(resolve("near/gone")).toEqual({ error: 'Model "near/gone" not found' });
  expect(modelRuntime.getModel("near", "large").id).toBe("large");
  expect(await modelRuntime.getAuth("near")).toMatchObject({ auth: { apiKey: "k" } });
  modelRuntime.registerProvider("far", { ...local, models: [{ id: "x" }] });
  await modelRuntime.refresh();
  const scope = await pi.resolveModelScopeWithDiagnostics(["near/*", "nothing"], modelRuntime);
  expect(scope.scopedModels).toHaveLength(2);
  expect(scope.diagnostics).toHaveLength(1);
  expect(resolve("far/x").model.baseUrl).toBe(local.baseUrl);
});
