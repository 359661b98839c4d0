/**
 * The floors of each package, lowest first. A folder imports from the floors below its own; folders
 * on one floor do not import each other. Files beside the folders are the top floor. Types count.
 */
export interface Layers {
  /** The folder that holds the floors, relative to the root of the repository. */
  readonly root: string;
  readonly floors: readonly (readonly string[])[];
  /** Files beside the folders are the bottom floor instead: the folders import them. */
  readonly hasLooseBottom?: boolean;
  /** Files that may lie beside the folders; any when absent. */
  readonly looseFiles?: readonly string[];
}

const codingAgent = "packages/coding-agent/src";

export const layers: readonly Layers[] = [
  {
    root: codingAgent,
    floors: [
      ["base", "shell-lines"],
      ["settings", "processes", "host-requests"],
      ["models", "resources", "permissions", "sandbox"],
      ["session-log", "package-installs"],
      ["user-input", "todos", "stream-rules", "session-store", "jobs", "telemetry"],
      ["tools", "compaction", "structured-output"],
      ["host-tools"],
      ["subagents", "export-html", "approvals", "mcp"],
      ["run", "rewind"],
      ["session"],
      ["extensions"],
      ["create"],
      ["pi-modules"],
    ],
    looseFiles: ["index.ts"],
  },
  { root: `${codingAgent}/base`, floors: [["files"]], hasLooseBottom: true },
  { root: `${codingAgent}/shell-lines`, floors: [["line"], ["scan"], ["commands", "read-only"]] },
  { root: `${codingAgent}/models`, floors: [["auth"], ["local", "refresh", "logins"]] },
  { root: `${codingAgent}/permissions`, floors: [["rules"]] },
  {
    root: `${codingAgent}/sandbox`,
    floors: [["policy", "network"], ["paths"], ["bubblewrap", "seatbelt"]],
    looseFiles: [
      "describe-sandbox.ts",
      "open-sandbox.ts",
      "sandbox-check.ts",
      "session-sandbox.ts",
    ],
  },
  {
    root: `${codingAgent}/resources`,
    floors: [["files"], ["packages", "rules", "skills", "templates"]],
  },
  {
    root: `${codingAgent}/session-log`,
    floors: [["scan"], ["file", "entries"], ["store"], ["writers"]],
  },
  {
    root: `${codingAgent}/session-store`,
    floors: [["common"], ["file", "memory", "conformance", "open"]],
    looseFiles: ["index.ts"],
  },
  { root: `${codingAgent}/user-input`, floors: [["images"]] },
  {
    root: `${codingAgent}/tools`,
    floors: [
      ["common"],
      ["bash", "edit", "find", "grep", "jobs", "ls", "read", "todo-write", "tool-search", "write"],
    ],
  },
  {
    root: `${codingAgent}/subagents`,
    floors: [
      ["agents", "budgets", "isolation"],
      ["runners"],
      ["verification"],
      ["tasks"],
      ["task-tool"],
    ],
    looseFiles: ["session-tasks.ts"],
  },
  {
    root: `${codingAgent}/subagents/isolation`,
    floors: [["repository"], ["merge"], ["trees"]],
  },
  { root: `${codingAgent}/rewind`, floors: [["files"], ["store"], ["merge"]] },
  {
    root: `${codingAgent}/export-html`,
    floors: [["browser", "text"], ["entries"]],
    looseFiles: ["export-html.ts", "page.ts", "page-target.ts", "session-lines.ts"],
  },
  {
    root: `${codingAgent}/extensions`,
    floors: [["api"], ["port"], ["providers", "ui"], ["load"], ["hooks"], ["context"]],
  },
  {
    root: `${codingAgent}/pi-modules`,
    floors: [["base", "terminal"], ["ai"], ["coding-agent"], ["agent"]],
    looseFiles: ["host-modules.ts"],
  },
  {
    root: "packages/rpc-protocol/src",
    floors: [["vocabulary"], ["dialects"], ["commands"], ["wire"], ["entry"]],
    looseFiles: ["index.ts"],
  },
  {
    root: "packages/agent/src",
    floors: [["tools"], ["loop"]],
    looseFiles: ["agent.ts", "index.ts"],
  },
  {
    root: "packages/rpc-client/src",
    floors: [
      ["base", "generated"],
      ["connection", "events", "host", "wire"],
      ["prompt"],
      ["session"],
    ],
    looseFiles: ["index.ts", "rpc-client.ts"],
  },
  {
    root: "packages/conformance/src",
    floors: [["frames"], ["transcripts"], ["hosts"], ["command"]],
    looseFiles: ["index.ts"],
  },
  {
    root: "packages/acp/src",
    floors: [["mapping"], ["client"], ["session"]],
    looseFiles: ["index.ts", "serve-acp.ts", "sessions.ts"],
  },
  {
    root: "apps/cli/src",
    floors: [
      ["process"],
      ["command-line"],
      ["extensions", "rpc"],
      ["session", "one-shot"],
      ["hosting", "acp", "mcp", "auth", "packages"],
      ["commands"],
    ],
    looseFiles: ["cli.ts"],
  },
  { root: "apps/cli/src/rpc", floors: [["connection"], ["handlers"]] },
  {
    root: "apps/cli/src/hosting",
    floors: [["sessions"], ["clients"], ["listen"]],
    looseFiles: ["serve-hosted.ts", "serve-stdio.ts"],
  },
];

/** Folders that code outside of them imports through one file only. */
export const doors: readonly { readonly folder: string; readonly door: string }[] = [
  { folder: `${codingAgent}/subagents/isolation`, door: "index.ts" },
  { folder: `${codingAgent}/pi-modules`, door: "host-modules.ts" },
];
