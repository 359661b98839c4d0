import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import { isJsonObject } from "../base/files/read-json.ts";
import {
  amount,
  choice,
  count,
  flag,
  list,
  packageSources,
  ratio,
  record,
  resources,
  type SettingValueOf,
  text,
} from "./setting.ts";

const queueModes = ["all", "one-at-a-time"] as const;

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isLevel = (value: unknown) => thinkingLevels.some((level) => level === value);

/** Token limits of one model's compaction. */
export interface CompactionOverride {
  readonly reserveTokens?: number;
  readonly keepRecentTokens?: number;
}

/** A verification profile as `task.verification.profiles` holds it; checked where it is used. */
export type VerificationProfile = Readonly<Record<string, unknown>>;

/** Every setting: its key, default and meaning. Types, checks and docs come from this table. */
export const settingsTable = {
  defaultProvider: text(undefined, "Provider of the model a new session starts with."),
  defaultModel: text(undefined, "Id of the model a new session starts with."),
  defaultThinkingLevel: choice(thinkingLevels, "medium", "Thinking level of a new session."),
  modelThinkingLevels: record<ThinkingLevel>(
    "thinking levels",
    isLevel,
    'Thinking level per model, by "provider/id"; stronger than defaultThinkingLevel.',
  ),
  thinkingBudgets: record<number>(
    "token counts",
    isCount,
    "Thinking tokens per level (minimal, low, medium, high) for models that take a budget.",
  ),
  enabledModels: list(undefined, "Models to cycle through; patterns as for --models."),
  transport: choice(
    ["auto", "sse", "websocket", "websocket-cached"],
    "auto",
    "How replies travel; all but sse are read as sse.",
  ),

  steeringMode: choice(queueModes, "one-at-a-time", "How many steering messages a turn takes."),
  followUpMode: choice(queueModes, "one-at-a-time", "How many follow-ups start a new run."),
  queueMode: choice(
    queueModes,
    "one-at-a-time",
    "How many messages of queue_message a turn takes.",
  ),
  interruptMode: choice(
    ["immediate", "wait"],
    "immediate",
    "Whether steering skips the tool calls that are left or waits for the turn to end.",
  ),

  defaultTools: list(
    undefined,
    "Active built-in tools: plain names replace the default set, +name and -name change it.",
  ),
  shellPath: text(undefined, "Shell that runs commands."),
  shellCommandPrefix: text(undefined, "Line put before every command of the bash tool."),
  "bash.inheritKeys": flag(false, "Whether commands see the provider keys of the environment."),
  "bash.timeoutMs": count(
    600_000,
    "Longest run of a bash call that has no timeout of its own, in ms; 0 means no limit.",
  ),
  "images.autoResize": flag(true, "Whether images too large for a vendor are scaled down."),
  "images.blockImages": flag(false, "Whether images are kept from the model."),

  sessionDir: text(undefined, "Folder for session files; read before a project is trusted."),
  "session.fsync": choice(
    ["none", "turn", "entry"],
    "none",
    "How often session files are forced to disk, against power cuts.",
  ),

  "compaction.enabled": flag(true, "Whether a long conversation is summarised by itself."),
  "compaction.reserveTokens": count(
    20_000,
    "Tokens of the window kept free; less starts compaction.",
  ),
  "compaction.keepRecentTokens": count(20_000, "Tokens of recent conversation kept word for word."),
  "compaction.modelOverrides": record<CompactionOverride>(
    "{reserveTokens?, keepRecentTokens?}",
    (value) => isJsonObject(value) && Object.values(value).every(isCount),
    'Compaction limits per model, by "provider/id".',
  ),
  "branchSummary.reserveTokens": count(16_384, "Tokens kept free when a branch is summarised."),
  "branchSummary.skipPrompt": flag(false, "Whether leaving a branch never offers a summary."),

  "retry.enabled": flag(true, "Whether failed requests are tried again."),
  "retry.maxRetries": count(3, "Attempts after the first."),
  "retry.baseDelayMs": count(2000, "First wait in ms; it doubles with each attempt."),
  "retry.maxDelayMs": count(60_000, "Longest wait a vendor may ask for, in ms; more is a failure."),
  "retry.maxAgentDelayMs": count(60_000, "Cap of the doubling wait, in ms."),
  "retry.provider.timeoutMs": count(undefined, "Longest wait for a reply's first event, in ms."),
  "retry.provider.maxRetries": count(0, "Retries inside a vendor's library; kept at 0."),
  "retry.provider.maxRetryDelayMs": count(60_000, "Longest wait inside a vendor's library, in ms."),
  httpIdleTimeoutMs: count(300_000, "Longest silence within a reply, in ms; 0 means no limit."),
  httpProxy: text(
    undefined,
    "Proxy for requests to models; without it HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY count.",
  ),

  extensions: resources("Extension files, folders or patterns."),
  skills: resources("Skill files or folders."),
  prompts: resources("Prompt template files or folders."),
  packages: packageSources("Packages with extensions, skills and prompts."),
  enableSkillCommands: flag(true, "Whether each skill is offered as the command /skill:name."),
  defaultProjectTrust: choice(
    ["ask", "always", "never"],
    "ask",
    "Whether projects without a saved decision are trusted; ask means no where nobody can answer.",
    { scope: "user" },
  ),

  "task.maxConcurrency": count(8, "Subagents that run at the same time."),
  "task.maxRecursionDepth": count(2, "How deep subagents may start subagents; 0 forbids them."),
  "task.maxRuntimeMs": count(0, "Longest run of one subagent, in ms; 0 means no limit."),
  "task.maxOutputBytes": count(500_000, "Most bytes of one subagent's answer that are kept."),
  "task.maxOutputLines": count(5000, "Most lines of one subagent's answer that are kept."),
  "isolation.merge": choice(
    ["patch", "branch", "none"],
    "patch",
    "How isolated work comes back: into the working tree, as a branch, or as a patch file only.",
  ),
  "isolation.maxCopyBytes": count(
    200 * 1024 * 1024,
    "Most bytes copied for an isolated task outside of a git repository.",
  ),
  "task.command": list(undefined, "Command that starts a subagent's host; default this host."),
  "task.verification.enabled": flag(false, "Master switch for verification."),
  "task.verification.defaultProfile": text("", "Profile that `verify: true` stands for."),
  "task.verification.requireForIsolated": flag(false, "Whether every isolated task is verified."),
  "task.verification.maxRetries": count(1, "Most repair attempts after a failed verification."),
  "task.verification.failureContextLineLimit": count(200, "Lines of a failure shown for repair."),
  "task.verification.profiles": record<VerificationProfile>(
    "verification profiles",
    isJsonObject,
    "Verification profiles by name.",
  ),
  "task.budget.maxWallTimeMs": amount(undefined, "Longest session, in ms."),
  "task.budget.maxInputTokens": amount(undefined, "Most input tokens."),
  "task.budget.maxOutputTokens": amount(undefined, "Most output tokens."),
  "task.budget.maxTotalTokens": amount(undefined, "Most tokens of both kinds."),
  "task.budget.maxCostUsd": amount(undefined, "Most money, in US dollars."),
  "task.budget.maxToolCalls": amount(undefined, "Most tool calls."),
  "task.budget.maxSubagents": amount(undefined, "Most subagents started."),
  "task.budget.warnAtRatio": ratio(0.8, "Share of a limit at which one warning is given."),

  "todoCompletion.enabled": flag(
    false,
    "Whether the agent is reminded of open todos when it stops.",
  ),
  "todoCompletion.maxReminders": count(3, "Most reminders in a row."),
  "ttsr.enabled": flag(true, "Whether stream rules watch replies."),
  "ttsr.contextMode": choice(
    ["discard", "keep"],
    "discard",
    "What happens to a reply that a stream rule stopped.",
  ),
  "ttsr.repeatMode": choice(["once", "after-gap"], "once", "When a stream rule may strike again."),
  "ttsr.repeatGap": count(10, "Turns before a stream rule may strike again in mode after-gap."),
} as const;

/** The dotted name of a setting. */
export type SettingKey = keyof typeof settingsTable;
/** The type of a setting's value. */
export type SettingValue<K extends SettingKey> = SettingValueOf<(typeof settingsTable)[K]>;
/** Settings and their values, by dotted name. */
export type SettingValues = { [K in SettingKey]?: SettingValue<K> | undefined };
/** A setting whose lists of both files count. */
export type ResourceKey = "extensions" | "skills" | "prompts";

/** Keys other hosts of the family keep in the same file for their terminals: not ours, not wrong. */
export const foreignKeys: ReadonlySet<string> = new Set(
  `$schema theme themes hideThinkingBlock quietStartup lastChangelogVersion collapseChangelog
  doubleEscapeAction treeFilterMode editorPaddingX autocompleteMaxVisible showHardwareCursor terminal
  markdown keybindings npmCommand websocketConnectTimeoutMs enableInstallTelemetry telemetry
  externalEditor statusLine symbolPreset colorBlindMode setupVersion extensionChangelogVersions
  sessionShareDestination showCacheMissNotices selfUpdateCommand enableAnalytics trackingId deviceId
  outputPad warnings codemode cacheWarming tuiMode websockets fullscreenExitOutput
  fullscreenScrollbar fullscreenCopyOnSelect fullscreenWheelScrollLines`.split(/\s+/),
);

/** Whether `key` names a setting. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingsTable, key);
}
