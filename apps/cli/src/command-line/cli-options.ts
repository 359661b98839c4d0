import type { ManagedPolicy, PermissionMode, ToolExecutionMode } from "@tau-agent/rpc-protocol";
import type { ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { HostingOptions } from "./hosting-options.ts";
import type { StoreOptions } from "./store-options.ts";

export interface CliOptions extends HostingOptions, StoreOptions {
  mode?: "text" | "json" | "rpc";
  print?: boolean;
  help?: boolean;
  version?: boolean;
  verbose?: boolean;
  offline?: boolean;
  provider?: string;
  model?: string;
  fallbackModel: string[];
  durability?: "log" | "effects";
  durabilityAdoptMs?: string;
  maxTurns?: string;
  /** A prompt whose host died goes on when its session is opened. */
  resumeInterrupted?: boolean;
  models?: string;
  thinking?: ThinkingLevel;
  permissionMode?: PermissionMode;
  /** Files with policies, or policies as JSON. */
  policyFiles: string[];
  /** What they say; read once, so that it cannot change while the host lives. */
  policy: readonly ManagedPolicy[];
  toolExecution?: ToolExecutionMode;
  apiKey?: string;
  systemPrompt?: string;
  appendSystemPrompt: string[];
  outputSchema?: string;
  trajectoryFile?: string;
  verbatim?: boolean;
  /** A name from the settings, or a spec as JSON. */
  workspace?: string;
  /** The session's folder; by default the process's own. */
  cwd?: string;
  session?: string;
  continue?: boolean;
  resume?: boolean;
  fork?: string;
  sessionDir?: string;
  sessionId?: string;
  noSession?: boolean;
  name?: string;
  tools?: string;
  taskDepth?: string;
  taskFolder?: string;
  taskAgents?: string;
  agentName?: string;
  noTools?: boolean;
  noBuiltinTools?: boolean;
  excludeTools?: string;
  noSkills?: boolean;
  skill: string[];
  noPromptTemplates?: boolean;
  promptTemplate: string[];
  noContextFiles?: boolean;
  noMcp?: boolean;
  mcpServers?: string;
  extension: string[];
  noExtensions?: boolean;
  approve?: boolean;
  noApprove?: boolean;
  protocol?: string;
  /** What to look for; empty for all models. */
  listModels?: string;
  /** Session file to make a page of; the first message is where. */
  export?: string;
  noThemes?: boolean;
  theme: string[];
  logFile?: string;
  /** Long flags this version does not know; extensions may. */
  unknown: Map<string, string | true>;
  /** Whether all of them are known to be declared, or another host has seen to it. */
  areUnknownSettled?: boolean;
  /** Words behind unknown flags; prompts, should the flag turn out to be a switch. */
  borrowed: readonly BorrowedWord[];
  /** `@file` arguments without the `@`. */
  files: string[];
  messages: string[];
  /** The first word that is neither a flag nor a value, and comes before `--`. */
  firstWord?: string;
}

/** A word that may be the value of a flag or a prompt. */
export interface BorrowedWord {
  readonly flag: string;
  readonly word: string;
  /** The number of messages before it. */
  readonly at: number;
}
