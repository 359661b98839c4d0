import { readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { AgentTool } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import {
  type CommandOutcome,
  FileQueue,
  formatSize,
  makeFolder,
  type OutputSink,
  openOutput,
  ProcessRegistry,
  runShellCommand,
  type ToolEnvironment,
  truncateHead,
} from "@tau-agent/system";
import type { ExtensionContext } from "../../extensions/api/context.ts";
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

/** How a tool of another working directory may be changed. */
interface PiToolOptions {
  /** Does the tool's work somewhere else, for instance on another machine. */
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

export function piTools(places: HostPlaces): object {
  const fileQueue = new FileQueue();
  const processes = new ProcessRegistry({ systemRoot: places.environment.SystemRoot });
  const environmentFor = (cwd: string, options: PiToolOptions = {}): ToolEnvironment => ({
    ...withWorkspace({
      cwd,
      environment: places.environment,
      homeDirectory: places.homeDirectory,
      fileQueue,
      processes,
      shellCommandPrefix: options.commandPrefix,
    }),
    temporaryDirectory: places.temporaryDirectory,
  });
  const create =
    (name: ToolName) =>
    (cwd = places.cwd, options: PiToolOptions = {}): PiTool => {
      const environment = environmentFor(cwd, options);
      const tool = createTools(environment).find((candidate) => candidate.name === name);
      if (tool === undefined) throw new ExtensionError("not_supported", `There is no tool ${name}`);
      return withOptions(piToolOf(tool), environment, options);
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

function piToolOf(tool: AgentTool): PiTool {
  const { execute, isReadOnly, ...described } = tool;
  return {
    ...described,
    ...(isReadOnly === true ? { executionMode: "parallel" as const } : {}),
    execute: async (toolCallId, params, signal, onUpdate, context) => {
      refuseElsewhere(tool.name, context as Partial<ExtensionContext> | undefined);
      return execute(params, {
        toolCallId,
        signal: signal ?? new AbortController().signal,
        onUpdate: (partial) => onUpdate?.(partial),
      });
    },
  };
}

/** What a session does elsewhere is never done on this machine instead. */
function refuseElsewhere(name: string, context: Partial<ExtensionContext> | undefined): void {
  const { id = "local" } = context?.workspace ?? {};
  if (id === "local") return;
  const text = `This ${name} acts on the host's machine, and the session in workspace ${id}. Give it operations that use ctx.workspace.`;
  throw new ExtensionError("not_supported", text);
}

function withOptions(
  tool: PiTool,
  environment: ToolEnvironment,
  { operations, spawnHook }: PiToolOptions,
): PiTool {
  if (tool.name === "bash" && (operations?.exec !== undefined || spawnHook !== undefined)) {
    const local = localBash((cwd) => ({ ...environment, cwd }));
    const run = (operations as unknown as BashOperations | undefined) ?? local;
    return { ...tool, execute: bashElsewhere(run, environment, spawnHook) };
  }
  const work = operations && fileWork(tool.name, operations as unknown as FileOperations);
  if (!work) return tool;
  return {
    ...tool,
    execute: async (_id, params) => work(params, (path) => resolve(environment.cwd, path)),
  };
}

/** The shell of this machine as operations, for extensions that wrap it. */
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
  environment: ToolEnvironment,
  spawnHook: PiToolOptions["spawnHook"],
): PiTool["execute"] {
  return async (_id, params, signal, onUpdate) => {
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
            // Copy it, because the extension may reuse the buffer.
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

/** pi's words for the two ways to stop a command. */
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

type Work = (
  params: Record<string, unknown>,
  absolute: (path: string) => string,
) => Promise<ExtensionToolResult>;

/** `read`, `write` and `edit` on files somewhere else. */
function fileWork(name: string, operations: FileOperations): Work | undefined {
  const read = async (path: string): Promise<string> =>
    String(await (operations.readFile ?? readFile)(path));
  const write = async (path: string, content: string): Promise<void> => {
    await (operations.mkdir ?? ((dir) => makeFolder(dir)))(dirname(path));
    await (operations.writeFile ?? writeFile)(path, content);
  };
  const say = (text: string): ExtensionToolResult => ({ content: [{ type: "text", text }] });
  if (name === "read") {
    return async ({ path, offset, limit }, absolute) => {
      const lines = (await read(absolute(String(path)))).split("\n");
      const first = Math.max(0, Number(offset ?? 1) - 1);
      const wanted = lines.slice(first, limit === undefined ? undefined : first + Number(limit));
      const { content, truncated, totalBytes } = truncateHead(wanted.join("\n"));
      return say(truncated ? `${content}\n\n[Cut; ${formatSize(totalBytes)} in all]` : content);
    };
  }
  if (name === "write") {
    return async ({ path, content }, absolute) => {
      await write(absolute(String(path)), String(content));
      return say(`Wrote ${Buffer.byteLength(String(content))} bytes to ${String(path)}`);
    };
  }
  if (name !== "edit") return undefined;
  return async ({ path, oldText, newText }, absolute) => {
    const file = absolute(String(path));
    const pieces = (await read(file)).split(String(oldText));
    if (pieces.length !== 2) {
      const text = `oldText occurs ${pieces.length - 1} times in ${String(path)}; it must be unique`;
      throw new ExtensionError("handler_failed", text);
    }
    await write(file, pieces.join(String(newText)));
    return say(`Replaced the text in ${String(path)}`);
  };
}
