/** A group of pages in the sidebar, by file name in `docs/` without `.md`. */
export interface Section {
  readonly title: string;
  readonly pages: readonly string[];
}

/** Every page of `docs/`, in the order in which the sidebar shows them. */
export const sections: readonly Section[] = [
  {
    title: "Start",
    pages: ["quickstart", "unreleased", "choosing", "examples", "troubleshooting"],
  },
  {
    title: "Build",
    pages: [
      "embedding",
      "writing-a-client",
      "first-extension",
      "testing",
      "evaluation",
      "web-chat",
      "bot",
      "ci-job",
      "many-users",
      "docker",
      "editors",
      "many-sessions",
      "console",
      "front-doors",
      "workspaces",
      "session-stores",
      "durability",
      "fleet",
      "costs",
    ],
  },
  {
    title: "Features",
    pages: [
      "providers",
      "logins",
      "approvals",
      "your-own-tools",
      "structured-output",
      "tasks",
      "jobs",
      "rewind",
      "todos",
      "rules",
      "diagnostics",
      "pdfs",
      "web-fetch",
      "mcp",
      "sessions",
      "export",
      "import",
      "extensions",
      "running-safely",
      "policy",
      "traces",
    ],
  },
  {
    title: "Coming from",
    pages: ["from-pi", "from-oh-my-pi", "from-claude-agent-sdk", "from-codex"],
  },
  {
    title: "Reference",
    pages: [
      "protocol",
      "protocol-reference",
      "host-requests",
      "questions",
      "errors",
      "settings",
      "where",
      "environment",
      "conformance",
      "versioning",
      "performance",
      "cost",
    ],
  },
  {
    title: "Inside Tau",
    pages: [
      "architecture",
      "state-machine",
      "isolation",
      "recording",
      "windows",
      "performance-targets",
    ],
  },
];
