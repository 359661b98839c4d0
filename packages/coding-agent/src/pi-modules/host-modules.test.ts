import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agentToolOf } from "../extensions/context/agent-tool.ts";
import { Extension } from "../extensions/load/registration.ts";
import { createHostModules } from "./host-modules.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "tau-host-"));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

/** A host module, typed so that its members can be called. */
// biome-ignore lint/suspicious/noExplicitAny: extensions use these modules untyped, as this test does
async function load(name: string): Promise<Record<string, any>> {
  const modules = createHostModules({
    cwd,
    agentDirectory: join(cwd, "agent"),
    homeDirectory: cwd,
    temporaryDirectory: cwd,
    environment: { PATH: process.env.PATH, ANTHROPIC_API_KEY: "k" },
    version: "1.2.3",
  });
  return (await modules[name]?.()) ?? {};
}

/** The names that published extensions import at run time, by module. */
const imported: Record<string, string> = {
  "@mariozechner/pi-coding-agent": `createBashTool createReadTool createEditTool createWriteTool
    createGrepTool createFindTool createLsTool createCodingTools createReadOnlyTools codingTools
    createBashToolDefinition createReadToolDefinition createLocalBashOperations readTool bashTool
    truncateHead truncateTail truncateLine formatSize DEFAULT_MAX_BYTES DEFAULT_MAX_LINES
    SessionManager SettingsManager AuthStorage ModelRegistry getAgentDir VERSION CONFIG_DIR_NAME
    parseFrontmatter stripFrontmatter isToolCallEventType isBashToolResult isReadToolResult
    isEditToolResult isWriteToolResult convertToLlm serializeConversation estimateTokens compact
    calculateContextTokens shouldCompact DEFAULT_COMPACTION_SETTINGS getLastAssistantUsage
    buildSessionContext parseSessionEntries migrateSessionEntries getLatestCompactionEntry
    CustomEditor DynamicBorder BorderedLoader Theme getMarkdownTheme getSelectListTheme
    getSettingsListTheme highlightCode getLanguageFromPath keyHint rawKeyHint renderDiff
    buildContextEntries appKey hasTrustRequiringProjectResources VIRTUAL_MODEL_STATE_ENTRY
    defineTool createEventBus createAgentSession withFileMutationQueue loadSkillsFromDir
    formatSkillsForPrompt getShellConfig copyToClipboard DefaultResourceLoader RpcClient main
    UserMessageComponent AssistantMessageComponent ToolExecutionComponent parseSkillBlock
    generateSummary generateSummaryWithUsage generateBranchSummary findCutPoint loadSkills
    generateDiffString generateUnifiedPatch loadProjectContextFiles sessionEntryToContextMessages
    readStoredCredential resolveCliModel ModelRuntime createAgentSessionServices
    createAgentSessionFromServices detectSupportedImageMimeTypeFromFile getChangelogPath`,
  "@earendil-works/pi-ai": `Type StringEnum stream streamSimple complete completeSimple getModel
    getModels getProviders getEnvApiKey isContextOverflow calculateCost supportsXhigh
    AssistantMessageEventStream createAssistantMessageEventStream EventStream uuidv7 contentText
    modelsAreEqual validateToolArguments streamAnthropic streamSimpleAnthropic
    streamSimpleOpenAICompletions streamSimpleOpenAIResponses openAICompletionsApi
    isRetryableAssistantError hasApi ModelsError parseToolCallArguments extractRetryDelay
    resetApiProviders parseJsonWithRepair createProvider fauxProvider
    registerApiProvider getOAuthProvider registerOAuthProvider findEnvKeys getImageModels
    streamSimpleOpenAICodexResponses streamMistral anthropicOAuthProvider normalizeDomain`,
  "@mariozechner/pi-ai/oauth": "loginAnthropic refreshAnthropicToken getOAuthProviders",
  "@oh-my-pi/pi-tui": `Text Container Box Spacer SelectList SettingsList Markdown Input Editor Image
    Loader CancellableLoader TruncatedText TUI Key matchesKey parseKey truncateToWidth visibleWidth
    wrapTextWithAnsi fuzzyFilter fuzzyMatch CURSOR_MARKER isKeyRelease getKeybindings
    HStack VStack ScrollView hyperlink stripTerminalSequences encodeKitty getPngDimensions
    sliceByColumn CombinedAutocompleteProvider ProcessTerminal getCapabilities isFocusable`,
  "@sinclair/typebox": "Type Kind",
  "@sinclair/typebox/value": "Value",
  "@sinclair/typebox/compiler": "TypeCompiler",
  typebox: "Type",
  "typebox/value": "Value",
  "typebox/compile": "Compile",
  "@mariozechner/pi-agent-core":
    "Agent agentLoop truncateHead createBashTool estimateTokens uuidv7",
};

describe("the names that published extensions import", () => {
  it.each(Object.entries(imported))("exist in %s", async (name, names) => {
    const module = await load(name);
    const missing = names.split(/\s+/).filter((wanted) => module[wanted] === undefined);
    expect(missing).toEqual([]);
  });
});

it("runs tools in any directory, and with other operations", async () => {
  const { createReadTool, createBashTool } = await load("@mariozechner/pi-coding-agent");
  mkdirSync(join(cwd, "sub"));
  writeFileSync(join(cwd, "sub", "a.txt"), "from a file");
  const read = await createReadTool(join(cwd, "sub")).execute("1", { path: "a.txt" });
  expect(read.content[0].text).toContain("from a file");
  const operations = {
    exec: async (command: string, _cwd: string, { onData }: { onData(data: Buffer): void }) => {
      onData(Buffer.from(`elsewhere: ${command}`));
      return { exitCode: 0 };
    },
  };
  const bash = await createBashTool(cwd, { operations }).execute("1", { command: "ls" });
  expect(bash.content[0].text).toBe("elsewhere: ls");
});

it("writes no local file for tools whose operations return nothing", async () => {
  const { createWriteTool } = await load("@mariozechner/pi-coding-agent");
  const written: string[] = [];
  const operations = { mkdir: () => {}, writeFile: (path: string) => void written.push(path) };
  await createWriteTool(cwd, { operations }).execute("1", { path: "sub/kept.txt", content: "x" });
  expect(written).toEqual([join(cwd, "sub/kept.txt")]);
  expect(existsSync(join(cwd, "sub"))).toBe(false);
});

it("lets a remote shell print as much as a local one, and end in any way", async () => {
  const { createBashTool } = await load("@mariozechner/pi-coding-agent");
  type Exec = (printLine: (line: string) => void) => { exitCode: number | null };
  const run = (exec: Exec, updates: unknown[] = []) => {
    const operations = {
      exec: async (_command: string, _cwd: string, { onData }: { onData(data: Buffer): void }) =>
        exec((line) => onData(Buffer.from(line))),
    };
    const tool = createBashTool(cwd, { operations });
    return tool.execute("1", { command: "x", timeout: 5 }, undefined, (partial: unknown) =>
      updates.push(partial),
    );
  };
  const updates: unknown[] = [];
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`);
  const long = await run((print) => {
    for (const line of lines(50_000)) print(line);
    return { exitCode: 0 };
  }, updates);
  expect(updates.length).toBeLessThan(20);
  expect(long.content[0].text).toMatch(/^line 48000\n.*Showing lines 48001-50000 of 50000/s);
  const whole = readFileSync(long.details.fullOutputPath, "utf8");
  expect(whole).toBe(lines(50_000).join(""));
  const failing = (error: string) =>
    run((print) => {
      print("so far");
      throw new TypeError(error);
    });
  await expect(failing("timeout:5")).rejects.toThrow("so far\n\nCommand timed out after 5 seconds");
  await expect(failing("aborted")).rejects.toThrow("so far\n\nCommand aborted");
  await expect(failing("no route")).rejects.toThrow("no route");
  const ended = run(() => ({ exitCode: null }));
  await expect(ended).rejects.toThrow("Command ended without an exit code");
});

it("lists models synchronously and reads keys from the environment", async () => {
  const { getModel, getModels, getProviders, getEnvApiKey } = await load("@mariozechner/pi-ai");
  expect(getProviders()).toContain("anthropic");
  const [model] = getModels("anthropic");
  expect(getModel("anthropic", model.id)).toBe(model);
  expect(getEnvApiKey("anthropic")).toBe("k");
});

it("reads texts and skills synchronously", async () => {
  const { parseFrontmatter, loadSkillsFromDir } = await load("@mariozechner/pi-coding-agent");
  expect(parseFrontmatter("---\nname: x\nlist: [1, 2]\n---\n\nBody\n")).toEqual({
    frontmatter: { name: "x", list: [1, 2] },
    body: "Body",
  });
  mkdirSync(join(cwd, "skills", "one"), { recursive: true });
  writeFileSync(join(cwd, "skills", "one", "SKILL.md"), "---\ndescription: does one\n---\n");
  expect(loadSkillsFromDir({ dir: join(cwd, "skills") }).skills).toMatchObject([
    { name: "one", description: "does one" },
  ]);
});

it("provides the older TypeBox under its names", async () => {
  const { Type } = await load("@sinclair/typebox");
  const { Value } = await load("@sinclair/typebox/value");
  const { TypeCompiler } = await load("@sinclair/typebox/compiler");
  const schema = Type.Object({ n: Type.Number(), at: Type.Optional(Type.Date()) });
  expect(Value.Check(schema, { n: 1 })).toBe(true);
  expect(TypeCompiler.Compile(Type.Object({ n: Type.Number() })).Check({ n: "x" })).toBe(false);
  expect(Value.Errors(Type.Object({ n: Type.Number() }), { n: "x" }).First().path).toBe("/n");
  expect(
    Type.Composite([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
  ).toMatchObject({ type: "object", required: ["a", "b"] });
});

it("reports an unsupported feature only when it is used", async () => {
  const { runRpcMode, RpcClient } = await load("@mariozechner/pi-coding-agent");
  expect(() => runRpcMode()).toThrow("runRpcMode is not supported by this host");
  // The host's program provides the client; this test uses the library, which has none.
  expect(() => new RpcClient()).toThrow("not supported");
});

it("measures text and recognises keys in the terminal parts", async () => {
  const { Text, Container, visibleWidth, truncateToWidth, matchesKey, Key, sliceByColumn } =
    await load("@mariozechner/pi-tui");
  const container = new Container();
  container.addChild(new Text("two words", 0, 0));
  expect(container.render(5)).toEqual(["two", "words"]);
  expect(visibleWidth("\u001B[31m日本\u001B[0m")).toBe(4);
  expect(truncateToWidth("abcdef", 5)).toBe("ab...");
  expect(sliceByColumn("ab\u001B[31mc日d\u001B[0m", 2, 3)).toBe("\u001B[31mc日\u001B[0m");
  expect(matchesKey("\u0003", Key.ctrl("c"))).toBe(true);
});

it("tells which replies can be requested again, and how long a vendor asks to wait", async () => {
  const ai = await load("@earendil-works/pi-ai");
  const { isRetryableAssistantError, extractRetryDelay } = ai;
  const { parseToolCallArguments, parseStreamingJson } = ai;
  const failed = (errorMessage: string) => ({ stopReason: "error", errorMessage });
  expect(isRetryableAssistantError(failed("overloaded_error: Overloaded"))).toBe(true);
  expect(isRetryableAssistantError(failed("prompt is too long: 300000 tokens"))).toBe(false);
  expect(isRetryableAssistantError({ stopReason: "stop" })).toBe(false);
  expect(extractRetryDelay("Please try again in 3s")).toBe(3000);
  expect(parseToolCallArguments('{"a":1}')).toEqual({ arguments: { a: 1 } });
  expect(parseStreamingJson('{"a":1,"b":"x')).toEqual({ a: 1, b: "x" });
  expect(parseToolCallArguments('{"a":')).toEqual({ arguments: {}, argumentsError: '{"a":' });
});

it("opens a session inside this process with the given prompt and tools", async () => {
  const { createAgentSession, DefaultResourceLoader, createExtensionRuntime } = await load(
    "@earendil-works/pi-coding-agent",
  );
  const resourceLoader = new DefaultResourceLoader({
    systemPromptOverride: () => "You answer in one word.",
    appendSystemPromptOverride: () => ["Be kind."],
  });
  await resourceLoader.reload();
  expect(resourceLoader.getExtensions().runtime).toEqual(createExtensionRuntime());
  const { session } = await createAgentSession({ tools: ["read"], resourceLoader });
  expect(session.getActiveToolNames()).toEqual(["read"]);
  const prompt = await session.buildSystemPrompt();
  expect(prompt).toContain("You answer in one word.");
  expect(prompt).toContain("Be kind.");
  session.agent.state.messages = [{ role: "user", content: "before", timestamp: 1 }];
  expect(session.messages).toHaveLength(1);
  await session.dispose();
});

it("converts schemas of the arktype module to JSON Schema", async () => {
  const arktype = (await load("pi.arktype")) as unknown as {
    (definition: unknown): { array(): unknown };
    type: typeof arktype;
  };
  const item = arktype.type({ id: "string", "note?": "'a' | 'b'" });
  const tool = {
    name: "t",
    execute: async () => ({ content: [] }),
    parameters: arktype({ list: item.array() }),
  };
  const extension = new Extension({ path: "/e.ts", realPath: "/e.ts", scope: "user" });
  extension.addTool(tool as unknown as Parameters<Extension["addTool"]>[0]);
  const owned = extension.tools.get("t");
  if (owned === undefined) throw new TypeError("no tool");
  const { parameters } = agentToolOf({ tool: owned, extension }, {} as never, {} as never);
  expect(parameters).toMatchObject({
    type: "object",
    required: ["list"],
    properties: { list: { type: "array", items: { properties: { note: { enum: ["a", "b"] } } } } },
  });
});
