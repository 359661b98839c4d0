import { randomBytes } from "node:crypto";
import {
  connectWorkspace,
  createLocalWorkspace,
  type Workspace,
} from "@tau-agent/coding-agent/workspace";
import { RpcClient, RpcError } from "@tau-agent/rpc-client";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { errorMessage, parseObject } from "@tau-agent/rpc-protocol/plain";
import { SUBAGENT_SANDBOX } from "../process/environment.ts";
import { copyFolder } from "./copy-folder.ts";
import type { EvalRun, EvalTask } from "./eval-task.ts";

/** What all runs of an evaluation have in common. */
export interface EvalHosts {
  readonly program: readonly string[];
  /** The options of every host; of repeated options, the last counts. */
  readonly options: readonly string[];
  readonly policy: readonly ManagedPolicy[];
  /** The workspace, for all tasks, that these options name. */
  readonly workspace?: string | undefined;
  /** The specs of the user's settings, by name. */
  readonly workspaces: Readonly<Record<string, object>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For runs on this machine; undefined if it has no sandbox. */
  readonly sandbox: string | undefined;
  readonly temporaryDirectory: string;
  /** For setup and check, separately. */
  readonly commandTimeoutMs: number;
}

interface PlacedRun {
  readonly workspace: Workspace;
  /** The run's own folder, which contains the project. */
  readonly root: string;
  readonly cwd: string;
  readonly workspaceOptions: readonly string[];
}

const noTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const MAX_OUTPUT = 2000;

/**
 * Runs one task once, in a fresh copy of its folder. Copies the check there only after the agent's host has
 * ended. Never rejects.
 *
 * @param sessions - the folder for the session file
 * @param begun - called before anything is created in the folder of the run
 */
export async function runTask(
  task: EvalTask,
  run: number,
  {
    hosts,
    sessions,
    begun,
  }: {
    readonly hosts: EvalHosts;
    readonly sessions: string;
    readonly begun: (root: string | undefined) => Promise<void>;
  },
): Promise<EvalRun> {
  const { name, digest } = task;
  const result = {
    task: name,
    run,
    digest,
    passed: false,
    costUsd: 0,
    tokens: noTokens,
    timeMs: 0,
  };
  let placed: PlacedRun | undefined;
  try {
    placed = await place(task, hosts, begun);
    if (task.setup !== undefined) {
      const { exitCode, output } = await runScript(task.setup, placed, hosts);
      if (exitCode !== 0) throw new Error(`setup failed (exit code ${exitCode}): ${output}`);
    }
    const worked = await work(task, placed, { hosts, sessions });
    if (worked.status === "error") return { ...result, ...worked };
    if (task.checkFolder !== undefined) {
      await copyFolder(task.checkFolder, placed.workspace, placed.cwd);
    }
    const { exitCode, output } = await runScript(task.check, placed, hosts);
    const passed = exitCode === 0;
    return { ...result, ...worked, passed, ...(!passed && { output: output.slice(-MAX_OUTPUT) }) };
  } catch (error) {
    return { ...result, status: "error", error: errorMessage(error) };
  } finally {
    await placed?.workspace.remove(placed.root, { recursive: true }).catch(() => undefined);
    await placed?.workspace.dispose?.();
  }
}

/** No name mentions an evaluation: an agent that detects one may behave differently. */
async function place(
  task: EvalTask,
  { workspace: forAll, workspaces, temporaryDirectory }: EvalHosts,
  begun: (root: string | undefined) => Promise<void>,
): Promise<PlacedRun> {
  const given = forAll ?? task.workspace;
  const spec = given === undefined ? undefined : (parseObject(given) ?? workspaces[given]);
  if (given !== undefined && spec === undefined) {
    throw new Error(`workspace ${given}: the settings have none of this name`);
  }
  const workspace =
    spec === undefined
      ? createLocalWorkspace({ cwd: temporaryDirectory })
      : await connectWorkspace(spec as unknown as Parameters<typeof connectWorkspace>[0]);
  const there = await workspace.describe();
  const root = `${there.temporaryDirectory}/work-${randomBytes(6).toString("hex")}`;
  const cwd = `${root}/project`;
  await begun(spec === undefined ? root : undefined);
  const workspaceOptions =
    spec === undefined ? [] : ["--workspace", JSON.stringify({ ...spec, cwd }), "--cwd", cwd];
  const placed = { workspace, root, cwd, workspaceOptions };
  try {
    if (task.folder === undefined) await workspace.createDirectory(cwd);
    else await copyFolder(task.folder, workspace, cwd);
    return placed;
  } catch (error) {
    await workspace.remove(root, { recursive: true }).catch(() => undefined);
    await workspace.dispose?.();
    throw error;
  }
}

function host(
  { cwd, workspaceOptions }: PlacedRun,
  { program, options, policy, environment, sandbox }: EvalHosts,
  more: readonly string[],
): RpcClient {
  const args = ["--mode", "rpc", ...more, ...options, ...workspaceOptions];
  const isHere = workspaceOptions.length === 0;
  const env = { ...environment, [SUBAGENT_SANDBOX]: isHere ? sandbox : undefined };
  return new RpcClient({ command: program, args, env, policy, ...(isHere && { cwd }) });
}

async function work(
  { prompt, budget }: EvalTask,
  placed: PlacedRun,
  { hosts, sessions }: { readonly hosts: EvalHosts; readonly sessions: string },
): Promise<Pick<EvalRun, "status" | "error" | "costUsd" | "tokens" | "timeMs" | "session">> {
  await using client = host(placed, hosts, ["--session-dir", sessions]);
  await client.start();
  if (budget !== undefined) await client.setBudget(budget);
  const startedAt = performance.now();
  const outcome = await client.promptAndWait(prompt).then(
    ({ status, code }) => ({
      status:
        code === "budget_exceeded"
          ? ("budget_exceeded" as const)
          : status === "aborted"
            ? ("aborted" as const)
            : ("completed" as const),
    }),
    (error: unknown) => {
      if (error instanceof RpcError && error.code === "budget_exceeded") {
        return { status: "budget_exceeded" as const };
      }
      return { status: "error" as const, error: errorMessage(error) };
    },
  );
  const timeMs = Math.round(performance.now() - startedAt);
  const [stats, state] = await Promise.all([
    client.getSessionStats().catch(() => undefined),
    client.getState().catch(() => undefined),
  ]);
  const { input, output, cacheRead, cacheWrite } = stats?.tokens ?? noTokens;
  const tokens = { input, output, cacheRead, cacheWrite };
  return { ...outcome, timeMs, tokens, costUsd: stats?.cost ?? 0, session: state?.sessionFile };
}

/**
 * Runs a setup or a check in its own host and therefore in the sandbox, because it may run what the agent
 * wrote. The script is a file, because any process can read the arguments of others.
 */
async function runScript(
  script: string,
  placed: PlacedRun,
  hosts: EvalHosts,
): Promise<{ exitCode: number | undefined; output: string }> {
  const name = `.script-${randomBytes(6).toString("hex")}`;
  const path = `${placed.cwd}/${name}`;
  // A module preloaded into this host, such as a debugger, would not be found in the sandbox.
  const text = `unset NODE_OPTIONS\n${script}\n`;
  await placed.workspace.write(path, Buffer.from(text), { mode: 0o600 });
  await using client = host(placed, hosts, ["--no-session"]);
  const tooLong = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    tooLong.reject(new Error(`a command ran longer than ${hosts.commandTimeoutMs} ms`));
  }, hosts.commandTimeoutMs);
  try {
    await client.start();
    const running = client.bash(`sh ./${name}`, { excludeFromContext: true });
    // When stopped, the host also ends its commands.
    running.catch(() => undefined);
    const { exitCode, output } = await Promise.race([running, tooLong.promise]);
    return { exitCode: exitCode ?? undefined, output };
  } finally {
    clearTimeout(timer);
    await placed.workspace.remove(path).catch(() => undefined);
  }
}
