/**
 * The floors of each package, lowest first. A folder may import from the floors below its own; folders on one
 * floor must not import each other. Loose files beside the folders form the top floor, unless a floor names
 * them. Type imports count.
 */
export interface Layers {
  /** The folder that holds the floors, relative to the root of the repository. */
  readonly root: string;
  /** Names of folders, and of loose files beside them. */
  readonly floors: readonly (readonly string[])[];
  /** Whether loose files form the bottom floor instead, so that the folders import them. */
  readonly hasLooseBottom?: boolean;
  /** The loose files allowed on the top floor; any when absent. */
  readonly looseFiles?: readonly string[];
  /** What each folder contains, for the table of `docs/architecture.md`. */
  readonly contents?: Readonly<Record<string, string>>;
}

const codingAgent = "packages/coding-agent/src";
const system = "packages/system/src";
const sessions = "packages/sessions/src";
const worktrees = "packages/worktrees/src";

export const layers: readonly Layers[] = [
  {
    root: system,
    floors: [
      ["base", "documents", "images", "shell-lines"],
      ["settings", "processes", "host-requests"],
      ["keys", "sandbox", "structured-output", "durability"],
      ["web", "workspaces"],
    ],
    looseFiles: ["index.ts"],
    contents: {
      base: "diagnostics, the event bus, reading and writing files",
      documents: "pages and PDFs as text, read in a thread of their own",
      durability: "what outlives a host: the epochs of its sessions, and the keeper of commands",
      "host-requests":
        "the registry of open questions to the client, with ids, deadlines and replay",
      images: "what an image is, and how it becomes one that a model reads",
      keys: "which variables and files hold keys, and how texts are cleared of them",
      processes: "child processes and their output",
      sandbox: "what commands and file tools can reach",
      settings: "settings files and their schema",
      "shell-lines": "what a line of bash consists of",
      "structured-output": "replies that have to fit a JSON Schema",
      web: "the way to addresses that models and clients name",
      workspaces: "where tools act: this machine as a workspace, and what workspaces share",
    },
  },
  {
    root: `${system}/workspaces`,
    floors: [
      ["common"],
      ["local", "shell", "conformance"],
      ["carrier", "enclosing", "sandbox-session"],
    ],
    looseFiles: ["reach.ts"],
  },
  { root: `${system}/base`, floors: [["files"]], hasLooseBottom: true },
  { root: `${system}/shell-lines`, floors: [["line"], ["scan"], ["commands", "read-only"]] },
  {
    root: `${system}/sandbox`,
    floors: [["policy"], ["network", "paths"], ["bubblewrap", "seatbelt", "elsewhere"]],
    looseFiles: [
      "describe-sandbox.ts",
      "open-sandbox-elsewhere.ts",
      "open-sandbox.ts",
      "sandbox-check.ts",
      "serve-sandbox.ts",
      "session-sandbox.ts",
    ],
  },
  {
    root: sessions,
    floors: [["log", "todos"], ["stores"]],
    looseFiles: ["index.ts", "log.ts", "files.ts", "stored.ts"],
    contents: {
      log: "a session's tree over its writer (file, store, memory), and `Conversation`, the only one that adds entries",
      stores: "stores for sessions, and the checks for stores of others",
      todos: "the todo list that entries set",
    },
  },
  {
    root: `${sessions}/log`,
    floors: [["scan"], ["file", "entries"], ["store"], ["writers"]],
  },
  {
    root: `${sessions}/stores`,
    floors: [["common"], ["file", "memory", "conformance", "open"]],
    looseFiles: [],
  },
  { root: "packages/models/src", floors: [["auth"], ["local", "refresh", "logins"]] },
  {
    root: worktrees,
    floors: [
      ["git", "files", "elsewhere"],
      ["isolation", "rewind"],
    ],
    looseFiles: ["index.ts"],
    contents: {
      elsewhere: "scripts with git that a workspace runs",
      files: "walking a folder without following links",
      git: "running git, and what it lists",
      isolation: "working trees of isolated subagents, and how their work comes back",
      rewind: "the files before each prompt, and how prompts are taken back",
    },
  },
  {
    root: `${worktrees}/isolation`,
    floors: [["repository"], ["merge"], ["trees"]],
  },
  { root: `${worktrees}/rewind`, floors: [["files"], ["store"], ["merge"]] },
  {
    root: "packages/mcp/src",
    floors: [["names"], ["config"], ["connection"], ["tools", "auth"], ["session"]],
    looseFiles: ["index.ts", "mcp-access.ts"],
  },
  {
    root: "packages/export-html/src",
    floors: [["browser", "text"], ["entries"]],
    looseFiles: [
      "export-html.ts",
      "page.ts",
      "page-target.ts",
      "session-lines.ts",
      "write-export.ts",
    ],
  },
  {
    root: "packages/trajectories/src",
    floors: [["trajectory-source.ts"], ["atif", "markdown", "imports"]],
    looseFiles: ["index.ts"],
  },
  {
    root: codingAgent,
    floors: [
      ["resources", "permissions", "foreign-text"],
      ["package-installs", "policy"],
      ["user-input", "todos", "stream-rules", "jobs", "telemetry", "diagnostics"],
      ["tools", "compaction"],
      ["host-tools", "durability"],
      ["subagents", "approvals"],
      ["run"],
      ["session"],
      ["extensions"],
      ["create"],
      ["pi-modules"],
    ],
    looseFiles: ["index.ts", "session-store.ts", "workspace.ts"],
    contents: {
      approvals: "the gate of every tool call: rules, extensions, then a question to a person",
      compaction: "summaries of long conversations",
      create:
        "`createAgentSession`: checks options/, decides about trust/, builds the parts/ of a session and joins them",
      durability: "calls that survive their host: their start, what takes them back, their turn",
      diagnostics: "new problems in changed files: commands and language servers",
      extensions: "discovery, loading, hooks, and the objects handed to extensions",
      "foreign-text":
        "results that hold what others wrote: their fences, and whether one came last",
      "host-tools": "tools that the client runs",
      jobs: "commands in the background",
      "package-installs": "`tau install`: packages from npm, git and folders",
      permissions: "modes and rules, and the verdict of a call",
      policy: "what the host's policy lets any other source say at most",
      "pi-modules":
        "what extensions get when they import a package of pi; `host-modules.ts` is its door",
      resources: "skills, templates, context files, packages, the system prompt",
      run: "from a received prompt to its result: admission, queues, the run driver, continuation",
      session: "`AgentSession`, navigation between branches and files, the export",
      "stream-rules": "rules on streamed text",
      subagents: "the `task` tool: runners, isolation, verification, budgets",
      telemetry: "OpenTelemetry spans",
      todos: "the todo list of a session",
      tools: "the tools of the model",
      "user-input": "prompts and images as messages",
    },
  },
  {
    root: `${codingAgent}/create`,
    floors: [["options"], ["trust"], ["parts"]],
    looseFiles: [
      "create-session.ts",
      "export-saved-session.ts",
      "import-session.ts",
      "saved-sessions.ts",
    ],
  },
  { root: `${codingAgent}/permissions`, floors: [["rules"]] },
  {
    root: `${codingAgent}/resources`,
    floors: [["files"], ["packages", "rules", "skills", "templates"]],
  },
  {
    root: `${codingAgent}/tools`,
    floors: [
      ["common"],
      [
        "bash",
        "call-tool",
        "edit",
        "find",
        "grep",
        "jobs",
        "ls",
        "read",
        "ask-user",
        "read-entry",
        "subagents",
        "todo-write",
        "tool-search",
        "web-fetch",
        "write",
      ],
    ],
  },
  {
    root: `${codingAgent}/subagents`,
    floors: [["agents", "budgets"], ["runners"], ["verification"], ["tasks"], ["task-tool"]],
    looseFiles: ["session-tasks.ts"],
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
    floors: [["vocabulary"], ["dialects"], ["commands"], ["wire"], ["workspace"], ["entry"]],
    looseFiles: ["index.ts"],
  },
  {
    root: "packages/ai/src",
    floors: [
      ["error-codes.ts", "quietly.ts", "redact-secrets.ts", "retry-hint.ts", "unreached-proxy.ts"],
      ["errors.ts"],
      ["error-body.ts", "provider.ts", "reply-guard.ts", "sdk-error.ts"],
      ["transport", "models", "azure", "github-copilot"],
      ["request", "web-page.ts"],
      ["reply", "vertex", "bounded-reply.ts", "name-provider.ts"],
      ["fetch.ts"],
      ["anthropic-messages", "google-generative-ai", "openai"],
      [
        "anthropic-vertex",
        "bedrock-converse-stream",
        "google-vertex",
        "openai-completions",
        "openai-responses",
      ],
      ["azure-openai-responses", "mistral-conversations", "openai-codex-responses"],
      ["prompt-cache.ts", "repeated-requests.ts", "providers.ts"],
      ["stream-function.ts"],
      ["stream-reply.ts"],
      ["stream.ts"],
      ["testing"],
    ],
    looseFiles: ["index.ts"],
  },
  {
    root: "packages/agent/src",
    floors: [["tools"], ["loop"]],
    looseFiles: ["agent.ts", "index.ts"],
  },
  {
    root: "packages/store-redis/src",
    floors: [["redis-connection.ts", "redis-keys.ts"], ["scripts.ts"], ["create-redis-store.ts"]],
    looseFiles: ["index.ts"],
  },
  {
    root: "packages/store-postgres/src",
    floors: [["tables.ts"], ["postgres-connection.ts"], ["create-postgres-store.ts"]],
    looseFiles: ["index.ts"],
  },
  {
    root: "packages/worker/src",
    floors: [
      [
        "checkout.ts",
        "frame-stream.ts",
        "prompt-job.ts",
        "session-turns.ts",
        "waiting-jobs.ts",
        "worker-options.ts",
      ],
      ["control-refusals.ts", "control-stream.ts", "host.ts", "start-watch.ts", "take-folder.ts"],
      ["run-prompt.ts"],
      ["job-life.ts"],
      ["fleet-worker.ts"],
    ],
    looseFiles: ["index.ts", "main.ts"],
  },
  {
    root: "packages/rpc-client/src",
    floors: [
      ["base", "generated", "markup"],
      ["connection", "events", "host", "wire"],
      ["prompt", "streams"],
      ["session"],
      ["browser"],
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
      ["hosting", "acp", "mcp", "auth", "packages", "exec-server", "eval"],
      ["commands"],
    ],
    looseFiles: ["cli.ts"],
  },
  { root: "apps/cli/src/rpc", floors: [["connection"], ["handlers"]] },
  {
    root: "apps/cli/src/hosting",
    floors: [["sessions"], ["clients"], ["listen"]],
    looseFiles: ["many-sessions.ts", "serve-host.ts", "serve-stdio.ts", "start-console.ts"],
  },
  {
    root: "apps/bench/src",
    floors: [
      ["clock.ts"],
      [
        "floors",
        "frame-receiver.ts",
        "host-command.ts",
        "measurement.ts",
        "process-usage.ts",
        "repository.ts",
        "session-lines.ts",
      ],
      ["child.ts", "model-server.ts", "table.ts"],
      ["remote-model-server.ts", "socket-client.ts", "workspace.ts"],
      ["runs.ts"],
      ["comparison", "evaluation", "measurements", "model-server-process.ts"],
      ["bill", "profile"],
    ],
    looseFiles: ["bench.ts", "write-pages.ts"],
  },
  {
    root: "apps/site/src",
    floors: [
      ["api-reference.ts", "label-cells.ts", "rewrite-links.ts", "search-rank.ts", "site-map.ts"],
      ["stage-pages.ts"],
    ],
    looseFiles: ["build-site.ts"],
  },
];

/**
 * The packages, lowest first. All references in a package's `tsconfig.json` must be on lower floors; tests
 * may depend on any package.
 */
export const packageFloors: readonly (readonly string[])[] = [
  ["packages/rpc-protocol", "packages/markup"],
  ["packages/ai", "packages/rpc-client"],
  ["packages/agent", "packages/conformance"],
  ["packages/system"],
  ["packages/sessions", "packages/models", "packages/worktrees", "packages/mcp"],
  [
    "packages/export-html",
    "packages/trajectories",
    "packages/store-redis",
    "packages/store-postgres",
  ],
  ["packages/coding-agent"],
  ["packages/acp", "packages/worker", "packages/ai-sdk-harness", "apps/console"],
  ["apps/cli"],
];

/** Folders that outside code imports through one file only. */
export const doors: readonly { readonly folder: string; readonly door: string }[] = [
  { folder: `${worktrees}/isolation`, door: "index.ts" },
  { folder: `${sessions}/log/scan`, door: "index.ts" },
  { folder: `${codingAgent}/pi-modules`, door: "host-modules.ts" },
];
