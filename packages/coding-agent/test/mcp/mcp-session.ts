import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { afterEach, beforeEach } from "vitest";
import type { Behaviour } from "../../../mcp/src/__fixtures__/stdio-server.ts";
import { createAgentSession } from "../../src/create/create-session.ts";
import type { CreateAgentSessionOptions } from "../../src/create/options/session-options.ts";
import type { AgentSession } from "../../src/session/agent-session.ts";

const program = fileURLToPath(
  new URL("../../../mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);

/** An mcp.json entry that starts the fixture. */
export function fixtureEntry(behaviour: Behaviour, more: object = {}): object {
  return { command: process.execPath, args: [program, JSON.stringify(behaviour)], ...more };
}

/** A tool of the fixture that accepts any arguments. */
export function fixtureTool(name: string, more: object = {}): object {
  return { name, description: `Does ${name}`, inputSchema: { type: "object" }, ...more };
}

/** Tools of the fixture that accept any arguments. */
export function fixtureTools(...names: string[]): object[] {
  return names.map((name) => fixtureTool(name));
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** A fresh workspace for each test of a file, removed afterwards. */
export function workspaceForEach(): () => McpWorkspace {
  let workspace: McpWorkspace | undefined;
  beforeEach(async () => {
    workspace = await McpWorkspace.create();
  });
  afterEach(() => workspace?.remove());
  return () => {
    if (workspace === undefined) throw new Error("no test runs");
    return workspace;
  };
}

/** The folders of a user and a project, and sessions in them. */
export class McpWorkspace {
  readonly root: string;
  readonly cwd: string;
  readonly agentDirectory: string;
  readonly #sessions: AgentSession[] = [];

  static async create(): Promise<McpWorkspace> {
    const workspace = new McpWorkspace(await mkdtemp(join(tmpdir(), "tau-mcp-")));
    await Promise.all([mkdir(workspace.cwd), mkdir(workspace.agentDirectory)]);
    return workspace;
  }

  private constructor(root: string) {
    this.root = root;
    this.cwd = join(root, "project");
    this.agentDirectory = join(root, "agent");
  }

  /** Writes the user's mcp.json. */
  async configure(mcpServers: object): Promise<void> {
    await writeFile(join(this.agentDirectory, "mcp.json"), JSON.stringify({ mcpServers }));
  }

  /** Opens a session with a scripted model, unless the options name another one. */
  async open(options: Partial<CreateAgentSessionOptions> = {}): Promise<AgentSession> {
    const session = await createAgentSession({
      cwd: this.cwd,
      agentDirectory: this.agentDirectory,
      temporaryDirectory: this.root,
      homeDirectory: this.root,
      environment: { PATH: process.env.PATH, HOME: this.root, ANTHROPIC_API_KEY: "sk-secret" },
      provider: "scripted",
      session: { kind: "memory" },
      ...options,
    });
    this.#sessions.push(session);
    return session;
  }

  /** Opens a session and waits until its servers are connected. */
  async openReady(options: Partial<CreateAgentSessionOptions> = {}): Promise<AgentSession> {
    const session = await this.open(options);
    await session.mcp.ready();
    return session;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.dispose()));
    await rm(this.root, { recursive: true, force: true });
  }
}

/** Calls a tool of a session as the model would. */
export async function callTool(
  session: AgentSession,
  name: string,
  args: Record<string, unknown> = {},
  { signal = new AbortController().signal, onUpdate = () => {} } = {} as {
    signal?: AbortSignal;
    onUpdate?: (partial: ToolResult) => void;
  },
): Promise<ToolResult> {
  const tool = session.tools.all.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.execute(args, { toolCallId: "call-1", signal, onUpdate });
}

/** The text of a result. */
export function textOf({ content }: ToolResult): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The texts of a session's diagnostics, without that of a busy machine: the session waits for a server. */
export function diagnosticTexts({ diagnostics }: AgentSession): string[] {
  return diagnostics.filter(({ code }) => code !== "mcp_waiting").map(({ message }) => message);
}
