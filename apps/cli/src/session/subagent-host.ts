import { resolve } from "node:path";
import type {
  HostUriAnswer,
  RunnableHostTool,
  ServedUris,
  SubagentHost,
  SubagentHostRequest,
} from "@tau-agent/coding-agent";
import {
  type DefinedTool,
  RpcClient,
  RpcError,
  type UriContent,
  type UriScheme,
} from "@tau-agent/rpc-client";
import type { CliOptions } from "../command-line/cli-options.ts";
import {
  type ProcessEnvironment,
  SECRET_FILES,
  SUBAGENT_DIAGNOSTICS,
  SUBAGENT_KEY,
  SUBAGENT_SANDBOX,
} from "../process/environment.ts";
import { secretFilesOf } from "./secret-files.ts";

/** The time that a subagent's host has for an orderly shutdown before it is killed. */
const STOP_GRACE_MS = 1500;
const KILL_AFTER_MS = 500;

/**
 * Starts this program again, or the program in `task.command`, and drives it over the protocol. Passes on the
 * options of this host that also apply to subagents.
 */
export async function startSubagentHost(
  {
    command,
    args,
    cwd,
    variables,
    traceparent,
    sandbox,
    policy,
    workspace,
    diagnostics,
    signal,
    onEvent,
    approve,
    raiseBudget,
    answerQuestions,
    credentials,
  }: SubagentHostRequest,
  { options, environment }: { options: CliOptions; environment: ProcessEnvironment },
): Promise<SubagentHost> {
  const { program, agentDirectory } = environment;
  const client = new RpcClient({
    command: command ?? program,
    approve,
    raiseBudget,
    answerQuestions,
    credentials,
    policy,
    args: [...inheritedArguments(options, environment.cwd), ...args],
    // A local process cannot be started in the folder of another workspace.
    ...(workspace === undefined ? { cwd } : { workspace }),
    env: {
      ...environment.variables,
      ...variables,
      PI_CODING_AGENT_DIR: agentDirectory,
      // In the environment instead of the arguments, which every process can read.
      [SUBAGENT_SANDBOX]: sandbox && JSON.stringify(sandbox),
      [SUBAGENT_DIAGNOSTICS]: diagnostics && JSON.stringify(diagnostics),
      [SECRET_FILES]: JSON.stringify(secretFilesOf(options, environment)),
      [SUBAGENT_KEY]: keyFor(args, options) && (options.apiKey ?? environment.subagentKey),
    },
  });
  client.onEvent(onEvent, { holdsReading: true });
  const stop = async (): Promise<void> => {
    signal.removeEventListener("abort", stop);
    await client.stop({ graceMs: STOP_GRACE_MS, killAfterMs: KILL_AFTER_MS });
  };
  signal.addEventListener("abort", stop, { once: true });
  const started = client.start();
  if (signal.aborted) void stop();
  await started;
  try {
    // This program reads its sandbox from the variable; another program may not know it.
    if (command !== undefined) await confirmSandbox(client, sandbox);
    if (workspace !== undefined) await confirmWorkspace(client);
  } catch (error) {
    await stop();
    throw error;
  }
  let sessionFile: string | undefined;
  return {
    get sessionFile() {
      return sessionFile;
    },
    steer: async (message) => void (await client.steer(message)),
    control: {
      list: async () => (await client.listSubagents()).subagents,
      messages: (path, since) => client.getSubagentMessages(path, since),
      steer: (path, message) => client.steerSubagent(path, message),
      abort: (path) => client.abortSubagent(path),
      resume: async (path, message) => void (await client.resumeSubagent(path, message)),
    },
    prompt: async (text, verbatim) => {
      try {
        const forwarded = verbatim ? { verbatim } : {};
        // A resumed session may first have to answer a question that an earlier host left open.
        const options = { traceparent, ...forwarded, streamingBehavior: "followUp" } as const;
        const result = await client.promptAndWait(text, options);
        const status = result.status === "aborted" ? "aborted" : "completed";
        return { status, text: result.text };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        return { status: "error", text: "", error: error.message };
      } finally {
        sessionFile ??= (await client.getState().catch(() => undefined))?.sessionFile;
      }
    },
    setBudget: async (limits) => {
      await client.setBudget(limits);
    },
    setPermissions: async ({ mode, rules, onTimeout, timeoutMs }) => {
      await client.setPermissions({ mode, rules: rules && [...rules], onTimeout, timeoutMs });
    },
    setMcpServers: async (servers) => {
      await client.setMcpServers({ ...servers });
    },
    setHostTools: async (tools) => {
      await client.setHostTools(tools.map(hostToolOf));
    },
    setHostUris: async (served) => {
      await client.setHostUriSchemes(served.map(uriSchemeOf));
    },
    setEventLevel: async (level) => {
      await client.setSubagentSubscription(level);
    },
    used: () => client.getSessionStats(),
    transcript: async () => {
      const [{ sessionId }, { entries }] = [await client.getState(), await client.getEntries()];
      const timestamp = entries[0]?.timestamp ?? new Date().toISOString();
      return [{ type: "session", version: 3, id: sessionId, timestamp, cwd }, ...entries];
    },
    stop,
  };
}

const sandboxModes = ["off", "workspace", "readOnly"];

/**
 * Refuses work to a host that does not report that its tools are sandboxed.
 *
 * @throws {Error} with what the host reported
 */
async function confirmSandbox(
  client: RpcClient,
  wanted: SubagentHostRequest["sandbox"],
): Promise<void> {
  const strictness = (mode: unknown) => sandboxModes.indexOf(String(mode ?? "off"));
  if (strictness(wanted?.mode) < 1) return;
  const found = await client.getCapabilities().catch((error: unknown) => {
    if (error instanceof RpcError) return undefined;
    throw error;
  });
  const { mode } = found?.sandbox ?? {};
  if (strictness(mode) >= strictness(wanted?.mode)) return;
  const said = mode === undefined ? "says nothing of a sandbox" : `has the sandbox mode "${mode}"`;
  throw new Error(
    `it ${said}, and this session's is "${wanted?.mode}"; hand the variable ${SUBAGENT_SANDBOX} to it`,
  );
}

/** Refuses work to a host whose tools act on its own machine instead of this session's workspace. */
async function confirmWorkspace(client: RpcClient): Promise<void> {
  const { workspace } = await client.getState();
  if (workspace?.kind === "client") return;
  throw new Error("its tools do not act in this session's workspace; hand its arguments on to it");
}

function hostToolOf({ definition, run }: RunnableHostTool): DefinedTool {
  return {
    definition,
    run: (args, { toolCallId, agentId, signal, update }) =>
      run(args, { toolCallId, agentId, signal, onUpdate: update }),
  };
}

function uriSchemeOf({ definition, ask }: ServedUris): UriScheme {
  const { writable, ...described } = definition;
  return {
    ...described,
    read: async (url, context) => contentOf(await ask({ operation: "read", url }, context)),
    ...(writable === true && {
      write: async (url, content, context) =>
        void contentOf(await ask({ operation: "write", url, content }, context)),
    }),
  };
}

function contentOf({ isError, error, ...content }: HostUriAnswer): UriContent {
  if (isError === true) throw new Error(error || content.content || "there is no reason given");
  return content;
}

/** Whether the key on this command line is for the provider that the arguments name. */
function keyFor(args: readonly string[], { provider, model = "" }: CliOptions): true | undefined {
  const own = provider ?? /^([^/]+)\//.exec(model)?.[1];
  const wanted = args[args.indexOf("--provider") + 1];
  return args.includes("--provider") && own === wanted ? true : undefined;
}

function inheritedArguments(options: CliOptions, cwd: string): string[] {
  const switches = [
    ["--no-extensions", options.noExtensions],
    ["--no-skills", options.noSkills],
    ["--no-prompt-templates", options.noPromptTemplates],
    ["--no-context-files", options.noContextFiles],
    ["--offline", options.offline],
  ] as const;
  return [
    ...switches.flatMap(([name, isOn]) => (isOn ? [name] : [])),
    ...(options.toolExecution ? ["--tool-execution", options.toolExecution] : []),
    ...options.extension.flatMap((path) => [
      "--extension",
      /^~|^\w+:/.test(path) ? path : resolve(cwd, path),
    ]),
    ...[...options.unknown].map(([name, value]) => `--${name}${value === true ? "" : `=${value}`}`),
  ];
}
