import { dirname, resolve } from "node:path";
import type { AgentTool } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import {
  type CommandOutcome,
  FileQueue,
  formatSize,
  type OutputSink,
  openOutput,
  ProcessRegistry,
  runShellCommand,
  type ToolEnvironment,
  truncateHead,
} from "@tau-agent/system";
import { ExtensionError } from "../../extensions/api/errors.ts";
import type { BashOperations } from "../../extensions/api/events.ts";
import type { ExtensionTool, ExtensionToolResult } from "../../extensions/api/tool.ts";
import { followCommand } from "../../tools/bash/bash.ts";
import { withWorkspace } from "../../tools/common/local-place.ts";
import { createTools } from "../../tools/index.ts";
import type { HostPlaces } from "../base/host-places.ts";

type PiTool = Omit<ExtensionTool, "execute"> & {
  execute(
    toolCallId: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    onUpdate?: (partial: ExtensionToolResult) => void,
    context?: unknown,
  ): Promise<ExtensionToolResult>;
};

/** How a tool for another working directory can be modified. */
interface PiToolOptions {
  /** Does the tool's work in another place, for instance on another machine. */
  readonly operations?: Readonly<Record<string, (...given: never[]) => unknown>> | undefined;
  readonly commandPrefix?: string | undefined;
  /** Changes a command before it runs. */
  readonly spawnHook?:
    | ((start: { command: string; cwd: string; env: Record<string, string | undefined> }) => {
        command: string;
        cwd: string;
        env: Record<string, string | undefined>;
      })
    | undefined;
}

type ToolName = "read" | "bash" | "edit" | "write" | "grep" | "find" | "ls";

/** The tool environment of a remote session; undefined before it has begun. */
export type Elsewhere = () => ToolEnvironment | undefined;

/** Creates tools for this machine, or for the workspace of a session. */
export function piTools(places: HostPlaces, elsewhere?: Elsewhere): object {
  const fileQueue = new FileQueue();
  const processes = new ProcessRegistry({ systemRoot: places.environment.SystemRoot });
  const environmentFor = (cwd: string, { commandPrefix }: PiToolOptions = {}): ToolEnvironment => {
    const there = elsewhere?.();
    if (there !== undefined) {
      // The folder of the host's process does not exist in the workspace.
      const folder = cwd === places.cwd ? there.cwd : cwd;
      return { ...there, cwd: folder, environment: {}, shellCommandPrefix: commandPrefix };
    }
    const { environment, homeDirectory, temporaryDirectory } = places;
    const own = { cwd, environment, homeDirectory, fileQueue, processes };
    return { ...withWorkspace({ ...own, shellCommandPrefix: commandPrefix }), temporaryDirectory };
  };
  const create =
    (name: ToolName) =>
    (cwd = places.cwd, options: PiToolOptions = {}): PiTool => {
      const make = (): AgentTool => {
        const tools = createTools(environmentFor(cwd, options));
        const tool = tools.find((candidate) => candidate.name === name);
        if (tool !== undefined) return tool;
        throw new ExtensionError("not_supported", `There is no tool ${name}`);
      };
      const described = make();
      const tool = piToolOf(described, elsewhere === undefined ? () => described : make);
      return withOptions(tool, () => environmentFor(cwd, options), options);
    };
  const makers = {
    createReadTool: create("read"),
    createBashTool: create("bash"),
    createEditTool: create("edit"),
    createWriteTool: create("write"),
    createGrepTool: create("grep"),
    createFindTool: create("find"),
    createLsTool: create("ls"),
  };
  const definitions = Object.entries(makers).map(([name, make]) => [`${name}Definition`, make]);
  const prebuilt = Object.entries(makers).map(([name, make]) => {
    const short = name.slice("create".length);
    return [`${short.charAt(0).toLowerCase()}${short.slice(1)}`, make()];
  });
  const sets = (cwd?: string) => ({
    coding: [makers.createReadTool, makers.createBashTool, makers.createEditTool]
      .concat(makers.createWriteTool)
      .map((make) => make(cwd)),
    readOnly: [makers.createReadTool, makers.createGrepTool, makers.createFindTool]
      .concat(makers.createLsTool)
      .map((make) => make(cwd)),
  });
  return {
    ...makers,
    ...Object.fromEntries(definitions),
    ...Object.fromEntries(prebuilt),
    codingTools: sets().coding,
    readOnlyTools: sets().readOnly,
    createCodingTools: (cwd?: string) => sets(cwd).coding,
    createReadOnlyTools: (cwd?: string) => sets(cwd).readOnly,
    createLocalBashOperations: () => localBash(environmentFor),
    withFileMutationQueue: <T>(path: string, step: () => Promise<T>) => fileQueue.run(path, step),
  };
}

function piToolOf(
  { execute: _, isReadOnly, ...described }: AgentTool,
  tool: () => AgentTool,
): PiTool {
  return {
    ...described,
    ...(isReadOnly === true ? { executionMode: "parallel" as const } : {}),
    execute: async (toolCallId, params, signal, onUpdate) =>
      tool().execute(params, {
        toolCallId,
        signal: signal ?? new AbortController().signal,
        onUpdate: (partial) => onUpdate?.(partial),
      }),
  };
}

function withOptions(
  tool: PiTool,
  environment: () => ToolEnvironment,
  { operations, spawnHook }: PiToolOptions,
): PiTool {
  if (tool.name === "bash" && (operations?.exec !== undefined || spawnHook !== undefined)) {
    const local = localBash((cwd) => ({ ...environment(), cwd }));
    const run = (operations as unknown as BashOperations | undefined) ?? local;
    return { ...tool, execute: bashElsewhere(run, environment, spawnHook) };
  }
  const work = operations && fileWork(tool.name, operations as unknown as FileOperations);
  if (!work) return tool;
  return {
    ...tool,
    execute: async (_id, params) => {
      const { cwd, workspace } = environment();
      return work(params, { absolute: (path) => resolve(cwd, path), workspace });
    },
  };
}

/** This machine's shell as operations, for extensions that wrap it. */
function localBash(environmentFor: (cwd: string) => ToolEnvironment): BashOperations {
  return {
    exec: async (command, cwd, { onData, signal, timeout, env }) => {
      const outcome = await runShellCommand(environmentFor(cwd), {
        command,
        variables: env,
        signal,
        timeoutMs: timeout === undefined ? undefined : timeout * 1000,
        sessionVariables: {},
        onOutput: (chunk) => {
          onData(chunk);
          return undefined;
        },
      });
      if (outcome.kind === "aborted") throw new ExtensionError("handler_failed", "aborted");
      if (outcome.kind === "timed_out") {
        throw new ExtensionError("handler_failed", `timeout:${timeout}`);
      }
      return { exitCode: outcome.kind === "exited" ? outcome.exitCode : null };
    },
  };
}

function bashElsewhere(
  operations: BashOperations,
  environmentNow: () => ToolEnvironment,
  spawnHook: PiToolOptions["spawnHook"],
): PiTool["execute"] {
  return async (_id, params, signal, onUpdate) => {
    const environment = environmentNow();
    const prefix = environment.shellCommandPrefix;
    const command = [prefix, String(params.command)].filter(Boolean).join("\n");
    const env = { ...environment.environment };
    const start = spawnHook?.({ command, cwd: environment.cwd, env });
    const timeout = typeof params.timeout === "number" ? params.timeout : undefined;
    const run = async (onOutput: OutputSink): Promise<CommandOutcome> => {
      try {
        const { exitCode } = await operations.exec(
          start?.command ?? command,
          start?.cwd ?? environment.cwd,
          {
            // Copied, because the extension may reuse the buffer.
            onData: (data) => void onOutput(Buffer.from(data), "stdout"),
            signal,
            ...(timeout === undefined ? {} : { timeout }),
            ...(start === undefined ? {} : { env: start.env }),
          },
        );
        return exitCode === null ? { kind: "unknown" } : { kind: "exited", exitCode };
      } catch (error) {
        return outcomeOf(error);
      }
    };
    const mask = environment.createOutputMask?.();
    const show = (partial: ToolResult): void => onUpdate?.(partial);
    return followCommand(run, {
      open: () => openOutput(environment),
      mask,
      timeout,
      onUpdate: show,
    });
  };
}

/** pi's words for the two ways in which a command is stopped. */
function outcomeOf(error: unknown): CommandOutcome {
  const text = error instanceof Error ? error.message : "";
  if (text === "aborted") return { kind: "aborted" };
  if (text.startsWith("timeout:")) return { kind: "timed_out" };
  throw error;
}

interface FileOperations {
  readFile?(path: string): Promise<Buffer | string>;
  writeFile?(path: string, content: string): Promise<unknown>;
  mkdir?(path: string): Promise<unknown>;
}

interface FilePlace {
  readonly absolute: (path: string) => string;
  readonly workspace: Workspace;
}

type Work = (params: Record<string, unknown>, place: FilePlace) => Promise<ExtensionToolResult>;

/** `read`, `write` and `edit` for files in another place. */
function fileWork(name: string, operations: FileOperations): Work | undefined {
  // An extension's operations may return nothing at all.
  const { readFile, writeFile, mkdir } = operations;
  const read = async (path: string, { workspace }: FilePlace): Promise<string> =>
    Buffer.from(await (readFile ? readFile(path) : workspace.read(path))).toString();
  const write = async (path: string, content: string, { workspace }: FilePlace): Promise<void> => {
    const folder = dirname(path);
    await (mkdir ? mkdir(folder) : workspace.createDirectory(folder));
    await (writeFile ? writeFile(path, content) : workspace.write(path, Buffer.from(content)));
  };
  const say = (text: string): ExtensionToolResult => ({ content: [{ type: "text", text }] });
  if (name === "read") {
    return async ({ path, offset, limit }, place) => {
      const lines = (await read(place.absolute(String(path)), place)).split("\n");
      const first = Math.max(0, Number(offset ?? 1) - 1);
      const wanted = lines.slice(first, limit === undefined ? undefined : first + Number(limit));
      const { content, truncated, totalBytes } = truncateHead(wanted.join("\n"));
      return say(truncated ? `${content}\n\n[Cut; ${formatSize(totalBytes)} in all]` : content);
    };
  }
  if (name === "write") {
    return async ({ path, content }, place) => {
      await write(place.absolute(String(path)), String(content), place);
      return say(`Wrote ${Buffer.byteLength(String(content))} bytes to ${String(path)}`);
    };
  }
  if (name !== "edit") return undefined;
  return async ({ path, oldText, newText }, place) => {
    const file = place.absolute(String(path));
    const pieces = (await read(file, place)).split(String(oldText));
    if (pieces.length !== 2) {
      const text = `oldText occurs ${pieces.length - 1} times in ${String(path)}; it must be unique`;
      throw new ExtensionError("handler_failed", text);
    }
    await write(file, pieces.join(String(newText)), place);
    return say(`Replaced the text in ${String(path)}`);
  };
}
