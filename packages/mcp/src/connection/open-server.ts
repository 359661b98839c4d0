import type { AuthProvider, FetchLike } from "@modelcontextprotocol/client";
import { type ProcessRegistry, ServerProcess, setUpAgain, unlessAborted } from "@tau-agent/system";
import type { HttpEntry, McpServerConfig, OAuthEntry, StdioEntry } from "../config/server-entry.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { type ClientIdentity, McpConnection } from "./connection.ts";
import { statusOf } from "./failures.ts";
import type { McpPool } from "./mcp-pool.ts";
import type { Life, OpenedServer } from "./opened-server.ts";
import {
  ConfigurationError,
  type EntryContext,
  resolveAddress,
  resolveProgram,
  resolveProgramThere,
} from "./resolve-entry.ts";
import type { SharableServer } from "./server-pool.ts";
import { type ServerProgram, StdioTransport } from "./stdio-transport.ts";
import { startInWorkspace } from "./workspace-program.ts";

export interface LoginTarget {
  readonly server: string;
  readonly url: URL;
  readonly oauth: OAuthEntry;
  readonly fetch: typeof globalThis.fetch;
}

export interface OpenContext extends EntryContext {
  readonly identity: ClientIdentity;
  /** Returns the `fetch` that uses the user's proxy, if there is one. */
  readonly fetch: () => Promise<typeof globalThis.fetch | undefined>;
  /** The tokens for an address; absent if its headers contain one. */
  readonly authorize: (target: LoginTarget) => AuthProvider;
  readonly note: (server: string, message: string) => void;
  readonly pool: McpPool;
}

export function openServer(
  config: McpServerConfig,
  context: OpenContext,
  life: Life,
): Promise<OpenedServer> {
  const { entry } = config;
  return entry.transport === "stdio"
    ? openProgram({ ...config, entry }, context, life)
    : openAddress({ ...config, entry }, context, life);
}

async function openProgram(
  config: McpServerConfig & { readonly entry: StdioEntry },
  context: OpenContext,
  life: Life,
): Promise<OpenedServer> {
  const { environment, project, identity, note } = context;
  const { timeoutMs } = config.entry;
  const connectTo = (own: Life, start: () => Promise<ServerProgram>) => {
    const onRubbish = (line: string) =>
      note(config.name, `writes to its output what is not MCP: ${line.slice(0, 200)}`);
    const once = () =>
      connect(new StdioTransport({ start, onRubbish }), { ...own, identity, timeoutMs });
    return setUpAgain(once, own.signal);
  };
  if (project !== undefined && config.source === "project") {
    const resolving = resolveProgramThere(config, project, context);
    const program = await unlessAborted(resolving, life.signal);
    return connectTo(life, () => startInWorkspace(project.workspace, program));
  }
  const program = await unlessAborted(resolveProgram(config, context), life.signal);
  const { processes, sandbox } = environment;
  const start = (own: Life, registry: ProcessRegistry) =>
    connectTo(own, () => ServerProcess.start({ ...program, processes: registry, sandbox }));
  // What a program in a sandbox can reach depends on its session.
  if (!config.entry.isStateless || sandbox !== undefined) return start(life, processes);
  const pool = await context.pool.servers();
  return pool.open(keyOf(config.entry, program), life, start);
}

type Program = Awaited<ReturnType<typeof resolveProgram>>;

/** Everything that distinguishes one program from another. */
function keyOf({ allowsSampling, timeoutMs }: StdioEntry, program: Program): string {
  const { file, args, cwd, variables } = program;
  const sorted = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([file, args, cwd, sorted, allowsSampling, timeoutMs]);
}

async function connect(
  transport: StdioTransport,
  options: Parameters<typeof McpConnection.open>[1],
): Promise<SharableServer> {
  try {
    const connection = await McpConnection.open(transport, options);
    return { connection, transport: "stdio", failure: () => transport.failure };
  } catch (error) {
    if (transport.startFailure !== undefined) throw transport.startFailure;
    if (transport.failure === undefined) throw error;
    throw new Error(transport.failure, { cause: error });
  }
}

async function openAddress(
  config: McpServerConfig & { readonly entry: HttpEntry },
  context: OpenContext,
  life: Life,
): Promise<OpenedServer> {
  const { name: server, entry } = config;
  const resolving = resolveAddress(config, context);
  const { url, headers, oauth } = await unlessAborted(resolving, life.signal);
  const fetch = boundedFetch(context.fetch);
  const hasToken = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const options = {
    fetch: fetch as FetchLike,
    requestInit: { headers: checked(headers) },
    ...(hasToken ? {} : { authProvider: context.authorize({ server, url, oauth, fetch }) }),
  };
  const open = async (transport: "http" | "sse"): Promise<OpenedServer> => {
    const { StreamableHTTPClientTransport, SSEClientTransport } = await import(
      "@modelcontextprotocol/client"
    );
    const made =
      transport === "sse"
        ? new SSEClientTransport(url, options)
        : new StreamableHTTPClientTransport(url, { ...options, onInsufficientScope: "throw" });
    const connection = await McpConnection.open(made, {
      ...life,
      identity: context.identity,
      timeoutMs: entry.timeoutMs,
    });
    return { connection, transport, failure: () => undefined };
  };
  try {
    return await open(entry.transport);
  } catch (error) {
    if (life.signal.aborted || entry.transport === "sse" || !isOlderServer(error)) throw error;
    return open("sse").catch(() => {
      throw error;
    });
  }
}

/** Whether an address does not support streamable HTTP, so that the older transport is tried. */
function isOlderServer(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

function checked(headers: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch (error) {
    // The runtime's message would show the value, which may be a token.
    const name = Object.keys(headers).find((key) => !isHeader(key, headers[key] ?? ""));
    throw new ConfigurationError(`headers.${name} is not a valid header`, { cause: error });
  }
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers({ [name]: value });
    return true;
  } catch {
    return false;
  }
}
