/**
 * What a host needs at its start and a schema needs, too. These values are apart from the schemas
 * because importing one from beside a schema would build the schema, and a start should build none
 * (docs/decisions/0008-fast-start.md). For the same reason `entry/plain.ts` exports what needs no
 * schema, and each other entry only the schemas of its subject.
 */

/** Thinking levels from none to most. A level of a later model is added at its place. */
export const thinkingLevels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const levels: ReadonlySet<string> = new Set(thinkingLevels);

/** Whether a text is a thinking level. */
export function isThinkingLevel(text: string): text is (typeof thinkingLevels)[number] {
  return levels.has(text);
}

/** The session file format that is written; versions 1 and 2 are migrated on load. */
export const SESSION_VERSION = 3;

/** What a session can be exported as, with the extension of the file. */
export const exportExtensions = {
  html: "html",
  jsonl: "jsonl",
  markdown: "md",
  atif: "atif.json",
} as const;
export type ExportFormat = keyof typeof exportExtensions;

/** The permission modes, the least strict first. */
export const permissionModes = ["all", "acceptEdits", "ask", "readOnly"] as const;

/** What the sandbox of commands and file tools lets be written: anything, the working folder, or nothing; from loose to strict. */
export const sandboxModes = ["off", "workspace", "readOnly"] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** What holds across a crash: what was logged, or also that nothing happens twice; from weak to strong. */
export const durabilities = ["log", "effects"] as const;

/** What a permission rule does with a call, the weakest first. */
export const ruleActions = ["allow", "ask", "deny"] as const;

/** Everything a host may ask its client. */
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

/** What one client does for the session, in frames of its own: it runs the tools, or serves the URIs. */
export const workMethods = ["host_tool", "host_uri"] as const;
export type WorkMethod = (typeof workMethods)[number];

/** Whether a request is for one client alone. */
export function isWork<Request extends { readonly method: string }>(
  request: Request,
): request is Extract<Request, { method: WorkMethod }> {
  return workMethods.some((method) => method === request.method);
}
