/**
 * Values that both a host's start and a schema need. They are separate from the schemas, because an import
 * from a module with a schema would build the schema, and a start must build none
 * (docs/decisions/0008-fast-start.md). For the same reason, `entry/plain.ts` exports what needs no schema,
 * and each other entry only the schemas of its subject.
 */

/** Thinking levels from lowest to highest. Insert a new level at its position. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const levels: ReadonlySet<string> = new Set(thinkingLevels);

/** Whether a text is a thinking level. */
export function isThinkingLevel(text: string): text is (typeof thinkingLevels)[number] {
  return levels.has(text);
}

/** The session file format that is written; versions 1 and 2 are migrated when they are loaded. */
export const SESSION_VERSION = 3;

/** The export formats of a session, with their file extensions. */
export const exportExtensions = {
  html: "html",
  jsonl: "jsonl",
  markdown: "md",
  atif: "atif.json",
} as const;
export type ExportFormat = keyof typeof exportExtensions;

/** The permission modes, the least strict first. */
export const permissionModes = ["all", "acceptEdits", "ask", "readOnly"] as const;

/**
 * Where the sandbox of commands and file tools allows writing: anywhere, in the working folder, or nowhere;
 * from least to most strict.
 */
export const sandboxModes = ["off", "workspace", "readOnly"] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/**
 * What is guaranteed after a crash: only what was logged, or also that no effect happens twice; from weak to strong.
 */
export const durabilities = ["log", "effects"] as const;

/** What a permission rule does with a call, from weakest to strongest. */
export const ruleActions = ["allow", "ask", "deny"] as const;

/** Every request that a host may send to its client. */
export const hostRequestMethods = [
  "tool_approval",
  "host_tool",
  "host_uri",
  "dialog",
  "question",
  "open_url",
  "budget",
  "elicitation",
  "credential",
] as const;

/** The name of one kind of host request. */
export type HostRequestMethod = (typeof hostRequestMethods)[number];

/** Work that one client does for the session, in separate frames: it runs the tools, or serves the URIs. */
export const workMethods = ["host_tool", "host_uri"] as const;
export type WorkMethod = (typeof workMethods)[number];

/** Whether a request is for a single client. */
export function isWork<Request extends { readonly method: string }>(
  request: Request,
): request is Extract<Request, { method: WorkMethod }> {
  return workMethods.some((method) => method === request.method);
}
