import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject, thinkingLevels } from "@tau-agent/rpc-protocol/plain";
import { durabilitySettings } from "./durability-settings.ts";
import { sandboxRows } from "./sandbox-rows.ts";
import {
  amount,
  choice,
  choices,
  count,
  flag,
  list,
  packageSources,
  period,
  ratio,
  raw,
  record,
  resources,
  type SettingValueOf,
  text,
} from "./setting.ts";
import { sightSettings } from "./sight-settings.ts";

const queueModes = ["all", "one-at-a-time"] as const;

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isLevel = (value: unknown) => thinkingLevels.some((level) => level === value);

/** Token limits of one model's compaction. */
export interface CompactionOverride {
  readonly reserveTokens?: number;
  readonly keepRecentTokens?: number;
  readonly thresholdTokens?: number;
}

/** A verification profile in `task.verification.profiles`; validated when it is used. */
export type VerificationProfile = Readonly<Record<string, unknown>>;

/** Every setting: its key, default and meaning. Types, checks and docs come from this table. */
export const settingsTable = {
  defaultProvider: text(undefined, "Provider of the model for new sessions."),
  defaultModel: text(undefined, "Id of the model for new sessions."),
  defaultThinkingLevel: choice(thinkingLevels, "medium", "Thinking level for new sessions."),
  modelThinkingLevels: record<ThinkingLevel>(
    "thinking levels",
    isLevel,
    'Thinking level per model, by "provider/id"; overrides defaultThinkingLevel.',
  ),
  thinkingBudgets: record<number>(
    "token counts",
    isCount,
    "Thinking tokens per level (minimal, low, medium, high) for models that take a budget.",
  ),
  localServers: list(
    undefined,
    "Addresses of model servers to ask when no model with a key is named: Ollama, LM Studio, llama.cpp or vLLM. By default OLLAMA_HOST or port 11434, and 1234, 8080 and 8000, on 127.0.0.1; an empty list asks none.",
    { scope: "user" },
  ),
  enabledModels: list(undefined, "Models to cycle through; patterns over their names."),
  maxOutputTokens: count(
    undefined,
    "Most tokens of one reply; default the model's own limit, as far as the window has room.",
  ),
  continueOnLength: flag(
    true,
    "Whether a reply cut by the output limit is continued by itself, once per prompt.",
  ),
  cacheRetention: choice(
    ["short", "long", "auto", "none"],
    "short",
    "How long prompt caches are asked to live, where the vendor lets one ask; auto is long where two of the last three gaps between prompts were between 5 and 60 minutes. The variable PI_CACHE_RETENTION overrides it.",
  ),
  cacheWarming: choice(
    ["tools", "off"],
    "tools",
    "Whether a prompt cache that would lapse while a tool runs is renewed: at most twice for the calls of a reply, and where that costs less than writing it again.",
  ),
  transport: choice(
    ["auto", "sse", "websocket", "websocket-cached"],
    "auto",
    "How replies are transported; every value means sse.",
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
    "Whether steering skips the remaining tool calls or waits for the turn to end.",
  ),
  toolExecution: choice(
    ["sequential", "parallel"],
    "sequential",
    "Whether the tool calls of a reply run one after the other (neighbours that only read together), or all together (those that write one file in order).",
  ),

  defaultTools: list(
    undefined,
    "Active built-in tools: plain names replace the default set, +name and -name change it.",
  ),
  "permissions.mode": raw(
    '"all" | "acceptEdits" | "ask" | "readOnly"',
    "all",
    "How tools are approved where no rule fits.",
  ),
  "permissions.rules": raw(
    "list of {tool, match?, action}",
    undefined,
    "Permission rules; those of all settings files count together.",
  ),
  "permissions.onTimeout": raw(
    '"deny" | "cancel"',
    "deny",
    "Whether an approval that nobody answers denies the call, or ends the run, too.",
  ),
  "permissions.timeoutMs": raw(
    "whole number ≥ 0",
    300_000,
    "How long an approval waits, in ms; 0 means no limit.",
  ),
  "questions.timeoutMs": count(
    0,
    "How long the user has to answer a question of the model, in ms; 0 for no limit.",
  ),

  ...sandboxRows,

  workspaces: record<JsonObject>(
    "{command | shell | client, cwd, id?}",
    isJsonObject,
    "Places elsewhere in which tools can act, by name, for --workspace and open_session.",
    { scope: "user" },
  ),
  "workspace.reconnectMs": period(
    60_000,
    "How long a lost workspace is tried again before calls of tools fail, in ms.",
  ),

  shellPath: text(undefined, "The shell that runs commands."),
  shellCommandPrefix: text(undefined, "Line added before every command of the bash tool."),
  "bash.inheritKeys": flag(false, "Whether commands see provider keys from the environment."),
  "bash.timeoutMs": count(
    600_000,
    "Longest run of a bash call that has no timeout of its own, in ms; 0 means no limit.",
  ),
  "bash.jobs.allowDetached": flag(
    false,
    "Whether background jobs may be started that outlive the agent.",
  ),
  "tools.maskKeys": flag(
    true,
    "Whether provider keys that the host knows are replaced in results of tools and output of commands.",
  ),
  "images.autoResize": flag(
    true,
    "Whether images that are too large for a vendor are scaled down.",
  ),
  "images.blockImages": flag(false, "Whether images are withheld from the model."),

  sessionDir: text(undefined, "Folder for session files."),
  ...durabilitySettings,
  "session.store": text(
    undefined,
    "Store for sessions instead of files: redis://…, postgres://…, or a module; as --store.",
  ),
  "session.leaseMs": period(
    30_000,
    "How long a host may write a session in a store without renewing its lease, in ms.",
  ),
  "session.storeTimeoutMs": period(
    30_000,
    "How long a write to a store may take before the prompt fails, in ms.",
  ),

  "replay.maxFrames": count(
    2048,
    "Frames of a session that a host with several connections keeps for clients that attach again.",
  ),
  "replay.maxBytes": count(16 * 1024 * 1024, "Most bytes of those frames."),
  "listen.pingMs": count(
    15_000,
    "How often a listening host checks that its clients are there, in ms.",
    { scope: "user" },
  ),
  "listen.graceMs": count(
    30_000,
    "How long a listening host waits for a client that runs tools to come back, in ms.",
    { scope: "user" },
  ),

  "compaction.enabled": flag(true, "Whether long conversations are compacted automatically."),
  "compaction.reserveTokens": count(
    20_000,
    "Tokens of the window to keep free; below this, compaction starts.",
  ),
  "compaction.thresholdTokens": count(
    undefined,
    "Tokens from which on the conversation is compacted, however large the window is.",
  ),
  "compaction.keepRecentTokens": count(20_000, "Tokens of recent conversation to keep verbatim."),
  "compaction.model": text(
    undefined,
    'Model that writes the summaries, as "provider/id"; default the session\'s model.',
  ),
  "compaction.modelOverrides": record<CompactionOverride>(
    "{reserveTokens?, keepRecentTokens?, thresholdTokens?}",
    (value) => isJsonObject(value) && Object.values(value).every(isCount),
    'Compaction limits per model, by "provider/id".',
  ),
  "compaction.clearToolResults": choice(
    ["off", "auto"],
    "auto",
    "Whether outputs of tools that are outdated, repeated, or large and old become one line in requests, when that makes a session cheaper.",
  ),
  "branchSummary.reserveTokens": count(16_384, "Tokens to keep free when a branch is summarised."),
  "branchSummary.skipPrompt": flag(
    false,
    "Whether to skip the offer of a summary when leaving a branch.",
  ),

  "retry.enabled": flag(true, "Whether failed requests are retried."),
  "retry.maxRetries": count(3, "Most retries of a request."),
  "retry.baseDelayMs": count(2000, "First wait in ms; it doubles with each retry."),
  "retry.maxDelayMs": count(
    60_000,
    "Longest wait a vendor may ask for, in ms; a longer one is a failure.",
  ),
  "retry.maxAgentDelayMs": count(60_000, "Upper limit of the doubling wait, in ms."),
  "retry.provider.timeoutMs": count(
    undefined,
    "Longest wait for a reply's first event, in ms; default 120000, or 600000 for a server on this machine; 0 means no limit.",
  ),
  "retry.provider.maxRetries": count(0, "Retries inside a vendor's SDK; kept at 0."),
  "retry.provider.maxRetryDelayMs": count(60_000, "Longest wait inside a vendor's SDK, in ms."),
  fallbackModels: list(
    undefined,
    "Models, as provider/id, that answer in this order when the chosen one fails and its retries are used up.",
  ),
  "fallback.cooldownMs": count(
    300_000,
    "How long after its failure the chosen model is tried again, with the next prompt, in ms.",
  ),
  "fallback.on": choices(
    ["quota", "auth"],
    [],
    "Failures that let a fallback answer besides overload, server errors, rate limits and lost connections: a quota or balance that is used up, a refused key.",
  ),
  httpIdleTimeoutMs: count(300_000, "Longest silence within a reply, in ms; 0 means no limit."),
  httpProxy: text(
    undefined,
    "Proxy for requests to models; by default from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.",
  ),

  ...sightSettings,

  extensions: resources("Extension files, folders or patterns."),
  skills: resources("Skill files or folders."),
  prompts: resources("Prompt template files or folders."),
  packages: packageSources("Packages with extensions, skills and prompts."),
  enableSkillCommands: flag(true, "Whether each skill is also a command, /skill:name."),
  defaultProjectTrust: choice(
    ["ask", "always", "never"],
    "ask",
    "Whether to trust projects without a saved decision; ask means no if nobody can answer.",
    { scope: "user" },
  ),
  projectTrustChanges: choice(
    ["ask", "accept"],
    "ask",
    "Whether a trusted project has to be trusted again when what it loads has changed.",
    { scope: "user" },
  ),

  "task.maxConcurrency": count(8, "Subagents that run at the same time."),
  "task.maxRecursionDepth": count(2, "How deep subagents may be nested; 0 forbids them."),
  "task.narrowTools": flag(true, "Whether a list of tools limits the tools of subagents, too."),
  "task.maxRuntimeMs": count(0, "Longest run of one subagent, in ms; 0 means no limit."),
  "task.maxOutputBytes": count(500_000, "Most bytes to keep of one subagent's answer."),
  "task.maxOutputLines": count(5000, "Most lines to keep of one subagent's answer."),
  "isolation.merge": choice(
    ["patch", "branch", "none"],
    "patch",
    "How isolated work comes back: merged into the working tree, as a branch, or only as a patch file.",
  ),
  "isolation.maxCopyBytes": count(
    200 * 1024 * 1024,
    "Most bytes to copy for an isolated task outside a git repository.",
  ),
  "task.command": list(undefined, "Command that starts a subagent's host; this host by default."),
  "task.verification.enabled": flag(false, "Master switch for verification."),
  "task.verification.defaultProfile": text("", "Profile that `verify: true` uses."),
  "task.verification.requireForIsolated": flag(false, "Whether every isolated task is verified."),
  "task.verification.maxRetries": count(1, "Most repair attempts after a failed verification."),
  "task.verification.failureContextLineLimit": count(
    200,
    "Lines of a failure to show for the repair.",
  ),
  "task.verification.profiles": record<VerificationProfile>(
    "verification profiles",
    isJsonObject,
    "Verification profiles by name.",
  ),
  "task.budget.maxWallTimeMs": amount(undefined, "Longest wall time of runs, in ms."),
  "task.budget.maxInputTokens": amount(undefined, "Most input tokens."),
  "task.budget.maxOutputTokens": amount(undefined, "Most output tokens."),
  "task.budget.maxTotalTokens": amount(undefined, "Most input and output tokens together."),
  "task.budget.maxCostUsd": amount(undefined, "Highest cost, in US dollars."),
  "task.budget.maxToolCalls": amount(undefined, "Most tool calls."),
  "task.budget.maxSubagents": amount(undefined, "Most subagents started."),
  "task.budget.onExceeded": choice(
    ["stop", "ask"],
    "stop",
    "What happens when a limit is used up: the work stops, or the client is asked whether to raise it.",
  ),
  "task.budget.warnAtRatio": ratio(0.8, "Share of a limit that triggers a warning, once."),

  "rewind.enabled": flag(
    false,
    "Whether files are recorded before a prompt changes them, so that rewind can take it back.",
  ),
  "rewind.maxFileBytes": count(104_857_600, "Largest file to record, in bytes."),
  "rewind.maxTotalBytes": count(
    1_073_741_824,
    "Most bytes to record of folders that git ignores; outside git, of everything.",
  ),
  "rewind.keep": count(100, "Most checkpoints to keep per session."),
  "telemetry.enabled": flag(
    false,
    "Whether runs, requests to models and calls of tools become OpenTelemetry spans.",
  ),
  "telemetry.contents": flag(
    false,
    "Whether spans contain messages, and the arguments and results of tools.",
  ),
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
  "ttsr.repeatMode": choice(["once", "after-gap"], "once", "When a stream rule may trigger again."),
  "ttsr.repeatGap": count(10, "Replies before a stream rule may trigger again with after-gap."),
} as const;

export type SettingKey = keyof typeof settingsTable;
/** The type of a setting's value. */
export type SettingValue<K extends SettingKey> = SettingValueOf<(typeof settingsTable)[K]>;
/** Settings and their values, by dotted name. */
export type SettingValues = { [K in SettingKey]?: SettingValue<K> | undefined };
/** A setting whose lists in both files are combined. */
export type ResourceKey = "extensions" | "skills" | "prompts";

export const settingKeys: readonly string[] = Object.keys(settingsTable);

export function settingHelp(key: SettingKey): string {
  return settingsTable[key].description;
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingsTable, key);
}
