import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describeSandboxOf, sessionPolicy } from "@tau-agent/coding-agent";
import type { ManagedPolicy, SandboxInfo } from "@tau-agent/rpc-protocol";
import { CodedError } from "@tau-agent/rpc-protocol";
import { SettingsStore, tightenCeiling, withFileLock } from "@tau-agent/system";
import type { CliOptions } from "../command-line/cli-options.ts";
import { readHostLine } from "../command-line/read-host-line.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";
import { withoutOptions } from "../command-line/without-options.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import type { EvalRun } from "./eval-task.ts";
import { evaluate } from "./evaluate.ts";
import { discreetEnvironment, hiddenPlaces } from "./hidden-places.ts";
import { EvalJournal } from "./journal.ts";
import { readTasks } from "./read-tasks.ts";
import type { EvalHosts } from "./run-task.ts";
import { evalTable, scoreAll, scoreTask } from "./score.ts";

interface EvalRequest {
  readonly folder: string | undefined;
  readonly model?: string;
  readonly runs?: string;
  readonly jobs?: string;
  readonly policy?: string;
  readonly json?: boolean;
  /** Options for the hosts. */
  readonly behind: readonly string[] | undefined;
}

const COMMAND_TIMEOUT_MS = 600_000;
/** Long enough to detect that the lock of a killed process is stale. */
const LOCK_WAIT_MS = 3000;

/** Options of a host that the evaluation sets itself. */
const decided: readonly (keyof CliOptions)[] = [
  ...(["mode", "print", "cwd", "session", "continue", "resume", "fork", "sessionId"] as const),
  ...(["noSession", "sessionDir", "trajectoryFile", "export", "listModels", "sessions"] as const),
];

export async function evalCommand(
  { folder: given, behind = [], ...request }: EvalRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  if (given === undefined) refuse("eval", "name the folder with the tasks");
  const runs = count("--runs", request.runs);
  const jobs = count("--jobs", request.jobs);
  const folder = await realpath(resolve(environment.cwd, given)).catch(() =>
    refuse(given, "there is no such folder"),
  );
  const tasks = await readTasks(folder);
  const words = hostOptionsOf(request, behind);
  const named = readHostLine(words);
  // Passes the policy's contents: the hosts run in other folders, where its path could name another file.
  const { policy } = named;
  const limits = (await sessionPolicy(policy))?.merged;
  const options = withoutOptions(words, ["policy"]);
  const clash = decided.find((key) => named[key] !== undefined);
  if (clash !== undefined) refuse("--", `${clash} is not for the hosts of an evaluation`);
  const [first] = named.messages;
  if (first !== undefined) refuse(first, "behind --, only options of the hosts can follow");
  const key = JSON.stringify([folder, options, ...policy]);
  const name = createHash("sha256").update(key).digest("hex").slice(0, 16);
  const kept = join(environment.agentDirectory, "evaluations", name);
  const hidden = [...(await hiddenPlaces(folder)), kept];
  const { agentDirectory, cwd } = environment;
  const settings = await SettingsStore.load({ agentDirectory, cwd });
  const { sandbox, change } = await sandboxOf(settings, environment, {
    hidden,
    ceiling: limits?.sandbox,
  });
  const say = (text: string) => void process.stderr.write(`tau: ${text}\n`);
  const isRemote = named.workspace !== undefined;
  if (!sandbox.available && !isRemote) {
    say(
      `warning: no sandbox here (${sandbox.reason}): an agent that looks for the checks can find them`,
    );
  }
  // The arguments of this process would show the path of the tasks to every other process.
  process.title = "tau";
  const hosts: EvalHosts = {
    program: environment.program,
    // Nobody is there to approve tool calls, so all are allowed unless the policy sets a mode.
    options: limits?.permissions?.mode ? options : ["--permission-mode", "all", ...options],
    policy,
    workspace: named.workspace,
    workspaces: settings.get("workspaces"),
    environment: discreetEnvironment(environment.variables, [folder]),
    sandbox: sandbox.available ? change : undefined,
    temporaryDirectory: environment.temporaryDirectory,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
  };
  const onRun = (result: EvalRun) => say(described(result, runs));
  const work = async () => {
    const journal = await EvalJournal.open(kept);
    const done = await evaluate({ tasks, runs, jobs, hosts, journal, folder: kept, onRun });
    if (done.stopped === undefined && done.results.every(({ status }) => status !== "error")) {
      await journal.close();
    }
    return done;
  };
  const { results, stopped } = await withFileLock(join(kept, "evaluation"), work, {
    waitMs: LOCK_WAIT_MS,
  }).catch((error: unknown) => {
    if (!(error instanceof CodedError) || error.code !== "file_locked") throw error;
    return refuse("eval", "another process runs the same evaluation; wait for its end");
  });
  if (request.json) {
    const scores = tasks.map(({ name: task }) =>
      scoreTask(
        task,
        results.filter((result) => result.task === task),
        runs,
      ),
    );
    const report = { folder, runs, sandbox: sandbox.available, stopped: stopped?.reason };
    print(`${JSON.stringify({ ...report, all: scoreAll(scores), tasks: scores, results })}\n`);
  } else print(evalTable(tasks, results, runs));
  if (stopped !== undefined) {
    say(`error: stopped, since the first three runs failed in the same words: ${stopped.reason}`);
  }
  return stopped === undefined && results.every(({ status }) => status !== "error") ? 0 : 1;
}

/** The last option takes precedence, so those after `--` come last. */
function hostOptionsOf(
  { model, policy }: Pick<EvalRequest, "model" | "policy">,
  behind: readonly string[],
): readonly string[] {
  return [
    ...(model === undefined ? [] : ["--model", model]),
    ...(policy === undefined ? [] : ["--policy", policy]),
    ...behind,
  ];
}

interface SandboxLimits {
  readonly hidden: readonly string[];
  readonly ceiling: ManagedPolicy["sandbox"];
}

/** The user's sandbox or a default one, with everything about the tasks made unreadable. */
async function sandboxOf(
  { sandboxFiles }: SettingsStore,
  { agentDirectory, cwd, variables }: ProcessEnvironment,
  { hidden, ceiling = {} }: SandboxLimits,
): Promise<{ readonly sandbox: SandboxInfo; readonly change: string }> {
  const own = Object(sandboxFiles.find(({ scope }) => scope === "user")?.value);
  const wanted = {
    mode: own.mode === "readOnly" ? ("readOnly" as const) : ("workspace" as const),
    write: own.write,
    network: own.network ?? "all",
  };
  const change = {
    ...tightenCeiling(ceiling, wanted),
    denyRead: [...(own.denyRead ?? []), ...hidden],
    whenUnavailable: "refuse" as const,
  };
  const sandbox = await describeSandboxOf({
    agentDirectory,
    cwd,
    environment: variables,
    sandbox: change,
  });
  return { sandbox, change: JSON.stringify(change) };
}

function count(option: string, value = "1"): number {
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  return refuse(option, `${JSON.stringify(value)} is not a number from 1 to 9999`);
}

function described(
  { task, run, passed, status, error, costUsd, timeMs }: EvalRun,
  runs: number,
): string {
  const name = runs > 1 ? `${task} ${run}/${runs}` : task;
  if (status === "error") return `${name}: failed to run: ${error}`;
  const ended = status === "completed" ? "" : ` (${status.replace("_", " ")})`;
  const facts = `${(timeMs / 1000).toFixed(1)} s, $${costUsd.toFixed(4)}`;
  return `${name}: ${passed ? "passed" : "not passed"}${ended}, ${facts}`;
}
