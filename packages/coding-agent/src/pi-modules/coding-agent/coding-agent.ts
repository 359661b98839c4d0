import { join } from "node:path";
import { ModelRegistry } from "@tau-agent/models";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage, Usage } from "@tau-agent/rpc-protocol/messages";
import {
  formatSize,
  maxOutputBytes,
  maxOutputLines,
  truncateHead,
  truncateLine,
  truncateTail,
} from "@tau-agent/system";
import { estimateTokens } from "../../compaction/estimate.ts";
import { serializeConversation } from "../../compaction/serialize-conversation.ts";
import type { ProviderStream } from "../../extensions/api/native-provider.ts";
import { EventChannels } from "../../extensions/context/event-channels.ts";
import type { HostModules } from "../../extensions/load/host-imports.ts";
import { virtualStateEntry } from "../../extensions/providers/virtual-models.ts";
import { plainTheme } from "../../extensions/ui/terminal-ui.ts";
import { toLlmMessages } from "../../user-input/llm-messages.ts";
import type { HostPlaces } from "../base/host-places.ts";
import { unsupported, unsupportedClass } from "../base/unsupported.ts";
import { BorderedLoader, Component, Container, CustomEditor } from "../terminal/components.ts";
import { piCompaction } from "./compaction.ts";
import { piFiles } from "./files.ts";
import { piModels } from "./models.ts";
import { piSession } from "./session.ts";
import { piSessions } from "./sessions.ts";
import { piSettings } from "./settings.ts";
import { piTexts } from "./texts.ts";
import { piTools } from "./tools.ts";

/** Replaces pi's coding agent: the same exports on top of our parts. */
export async function loadPiCodingAgent(
  places: HostPlaces,
  hostModules: () => HostModules,
): Promise<object> {
  const texts = await piTexts();
  const stream = async (): Promise<ProviderStream> => {
    const ai = (await hostModules()["@earendil-works/pi-ai"]?.()) as { stream: ProviderStream };
    return ai.stream;
  };
  return {
    ...notSupported(),
    ...piTools(places),
    ...piSessions(places),
    ...piSettings(places),
    ...texts,
    ...(await piFiles(places, texts.loadSkillsFromDir)),
    ...piCompaction(stream),
    ...paths(places),
    ...toolEvents(),
    ...conversations(),
    ...terminalParts(),
    ...piSession(places, hostModules),
    ...piModels(places),
    ...(places.loadRpcClient === undefined ? {} : { RpcClient: await places.loadRpcClient() }),
    ModelRegistry,
    defineTool: <Tool>(tool: Tool): Tool => tool,
    createEventBus: () => new EventChannels(() => {}),
    truncateHead,
    truncateTail,
    truncateLine,
    formatSize,
    DEFAULT_MAX_BYTES: maxOutputBytes,
    DEFAULT_MAX_LINES: maxOutputLines,
    getShellConfig: () => ({ shell: places.environment.SHELL ?? "/bin/bash", args: ["-c"] }),
    createSyntheticSourceInfo: (path: string, options: object = {}) => ({
      path,
      source: "local",
      scope: "temporary",
      origin: "top-level",
      ...options,
    }),
    parseSkillBlock: (text: string) => {
      const match = /^<skill name="([^"]*)" location="([^"]*)">\n([\s\S]*?)\n<\/skill>\s*/.exec(
        text,
      );
      if (match === null) return null;
      const [whole, name, location, content] = match;
      return { name, location, content, userMessage: text.slice(whole.length) || undefined };
    },
  };
}

function paths({ agentDirectory, version, cwd, packageDirectory }: HostPlaces): object {
  const packageDir = packageDirectory ?? agentDirectory;
  return {
    VERSION: version,
    VIRTUAL_MODEL_STATE_ENTRY: virtualStateEntry,
    APP_NAME: "pi",
    CONFIG_DIR_NAME: ".pi",
    ENV_AGENT_DIR: "PI_CODING_AGENT_DIR",
    getAgentDir: () => agentDirectory,
    getPackageDir: () => packageDir,
    getDocsPath: () => join(packageDir, "docs"),
    getExamplesPath: () => join(packageDir, "examples"),
    getChangelogPath: () => join(packageDir, "CHANGELOG.md"),
    getReadmePath: () => join(packageDir, "README.md"),
    getProjectDir: () => join(cwd, ".pi"),
  };
}

function toolEvents(): object {
  const is = (name: string) => (event: { toolName?: string }) => event.toolName === name;
  const names = ["Bash", "Read", "Edit", "Write", "Grep", "Find", "Ls", "PowerShell"];
  return {
    ...Object.fromEntries(names.map((name) => [`is${name}ToolResult`, is(name.toLowerCase())])),
    isToolCallEventType: (name: string, event: { toolName?: string }) => event.toolName === name,
    isStandardSchema: (value: unknown) =>
      typeof value === "object" && value !== null && "~standard" in value,
    toJSONSchema: (schema: unknown) => schema,
  };
}

function conversations(): object {
  const usageTokens = (usage: Usage): number =>
    usage.totalTokens ?? usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return {
    convertToLlm: toLlmMessages,
    estimateTokens,
    serializeConversation: (messages: readonly AgentMessage[]) => serializeConversation(messages),
    calculateContextTokens: usageTokens,
    DEFAULT_COMPACTION_SETTINGS: {
      enabled: true,
      reserveTokens: 20_000,
      keepRecentTokens: 20_000,
    },
    shouldCompact: (
      tokens: number,
      contextWindow: number,
      settings: { enabled?: boolean; reserveTokens?: number } = {},
    ) => settings.enabled !== false && tokens > contextWindow - (settings.reserveTokens ?? 20_000),
    getLastAssistantUsage: (entries: readonly KnownSessionEntry[]) => {
      const last = entries.findLast(
        (entry) => entry.type === "message" && entry.message.role === "assistant",
      );
      const message = last?.type === "message" ? last.message : undefined;
      return message?.role === "assistant" ? message.usage : undefined;
    },
  };
}

/** Components that extensions build on, and their texts; there is no terminal to show them. */
function terminalParts(): object {
  const component = (name: string) => ({ [name]: class extends Component {} });
  const container = (name: string) => ({ [name]: class extends Container {} });
  const same = (text: string): string => text;
  const theme = new Proxy({}, { get: () => same });
  return {
    ...[
      "ArminComponent",
      "AssistantMessageComponent",
      "BashExecutionComponent",
      "BranchSummaryMessageComponent",
      "CompactionSummaryMessageComponent",
      "CustomMessageComponent",
      "ExtensionEditorComponent",
      "ExtensionInputComponent",
      "ExtensionSelectorComponent",
      "LoginDialogComponent",
      "ModelSelectorComponent",
      "OAuthSelectorComponent",
      "SessionSelectorComponent",
      "SettingsSelectorComponent",
      "ShowImagesSelectorComponent",
      "SkillInvocationMessageComponent",
      "ThemeSelectorComponent",
      "ThinkingSelectorComponent",
      "ToolExecutionComponent",
      "TreeSelectorComponent",
      "UserMessageComponent",
      "UserMessageSelectorComponent",
    ].reduce((all, name) => Object.assign(all, container(name)), {}),
    ...component("DynamicBorder"),
    ...component("FooterComponent"),
    BorderedLoader,
    CustomEditor,
    Theme: class {
      readonly fg = plainTheme.fg;
      readonly bg = plainTheme.bg;
      readonly bold = plainTheme.bold;
      readonly italic = plainTheme.italic;
      readonly underline = plainTheme.underline;
    },
    theme: plainTheme,
    initTheme: () => {},
    getMarkdownTheme: () => theme,
    getSelectListTheme: () => theme,
    getSettingsListTheme: () => theme,
    highlightCode: (code: string) => code.split("\n"),
    getLanguageFromPath: (path: string) => /\.(\w+)$/.exec(path)?.[1],
    renderDiff: same,
    truncateToVisualLines: (text: string, maxLines: number) => {
      const lines = text.split("\n");
      const skippedCount = Math.max(0, lines.length - maxLines);
      return { visualLines: lines.slice(skippedCount), skippedCount };
    },
    keyHint: (key: string, description: string) => `${key} ${description}`,
    appKeyHint: (_keys: unknown, key: string, description: string) => `${key} ${description}`,
    rawKeyHint: (key: string, description: string) => `${key} ${description}`,
    keyText: same,
    editorKey: same,
    appKey: (_keys: unknown, key: string) => key,
    copyToClipboard: async () => {},
    resizeImage: async (image: unknown) => image,
    formatDimensionNote: () => undefined,
    convertToPng: async () => null,
  };
}

/** Parts of pi's program that this host does not have. */
function notSupported(): object {
  const functions = [
    "discoverAndLoadExtensions",
    "discoverAuthStorage",
    "discoverContextFiles",
    "discoverExtensions",
    "discoverModels",
    "discoverPromptTemplates",
    "discoverSkills",
    "buildSystemPrompt",
    "createAgentSessionRuntime",
    "wrapRegisteredTool",
    "wrapRegisteredTools",
    "wrapToolWithExtensions",
    "wrapToolsWithExtensions",
    "main",
    "runPrintMode",
    "runRpcMode",
    "createCodemodeExtension",
    "createMcpExtension",
    "createToolSearchExtension",
    "createPowerShellTool",
    "createPowerShellToolDefinition",
    "buildSessionProjection",
    "createLocalPowerShellOperations",
    "getPowerShellConfig",
    "parseArgs",
  ];
  const classes = [
    "AgentSession",
    "AgentSessionRuntime",
    "CredentialSynchronizationError",
    "FileAuthStorageBackend",
    "InMemoryAuthStorageBackend",
    "DefaultPackageManager",
    "ExtensionRunner",
    "InteractiveMode",
    "ProjectTrustStore",
    "RpcClient",
  ];
  return {
    ...Object.fromEntries(functions.map((name) => [name, unsupported(name)])),
    ...Object.fromEntries(classes.map((name) => [name, unsupportedClass(name)])),
  };
}
