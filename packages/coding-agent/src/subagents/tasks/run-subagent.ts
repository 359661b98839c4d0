import { join } from "node:path";
import type { SessionEvent, VerificationResult } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { type Consumption, minus, SubagentMeter } from "@tau-agent/sessions/log";
import type { CapturedWork, IsolatedTree, PatchPart, TaskIsolation } from "@tau-agent/worktrees";
import { asOwnFile } from "../../permissions/isolated-paths.ts";
import { nothingSpent } from "../budgets/budgeted-session.ts";
import type { Subagent, SubagentReply, SubagentRequest } from "../runners/subagent-runner.ts";
import { verifyWork } from "../verification/verify-work.ts";
import { BudgetShare } from "./budget-share.ts";
import { ClientShare } from "./client-share.ts";
import { endedWith } from "./ended-with.ts";
import { type KeptResult, keepAll, keepOutput } from "./keep-result.ts";
import { PermissionShare } from "./permission-share.ts";
import { settleUse } from "./settle-use.ts";
import { openCopy, ownFolder, type SubagentCopy } from "./subagent-copy.ts";
import { patchOf } from "./subagent-record.ts";
import type { Task, TaskOrder } from "./task-order.ts";
import { exitCodeOf, type TaskResult, type TaskStatus } from "./task-result.ts";
import { maySpawnAt, type TaskServices } from "./task-services.ts";

/** The maximum number of attempts at an answer that fits its schema. */
const MAX_ANSWERS = 3;

const endings: Partial<Record<TaskStatus, string>> = {
  aborted: "The task was aborted.",
  timed_out: "The task ran longer than task.maxRuntimeMs allows.",
  budget_exceeded: "The session's budget ran out.",
};

export interface TaskRun {
  readonly services: TaskServices;
  readonly order: TaskOrder;
  readonly isolation: TaskIsolation | undefined;
  /** An existing folder for session files, patches and logs. */
  readonly artifactsFolder: string;
  readonly toolCallId: string;
  /** The unique prefix of the task's files in that folder. */
  readonly fileName: string;
  /** Aborts with the call, when the budget runs out, or at the time limit. */
  readonly signal: AbortSignal;
  /** Why the signal aborted. */
  readonly abortStatus: () => TaskStatus;
  readonly shares: number;
  readonly onProgress: (event: SessionEvent, used: Consumption) => void;
  /** The subagent's log in the session's store, if there is one. */
  readonly copy?: SubagentCopy | undefined;
}

export interface TaskOutcome {
  readonly result: TaskResult;
  readonly change?: { readonly tree: string; readonly parts: readonly PatchPart[] } | undefined;
  /** Whether it was taken from the session's budget of subagents. */
  readonly wasTaken: boolean;
}

interface Work {
  readonly reply: SubagentReply;
  readonly answer?: TaskResult["answer"];
  readonly tree?: CapturedWork | undefined;
  readonly verification?: VerificationResult | undefined;
}

/**
 * Executes one task from start to end: tree, subagent, verification with repairs, patch. Never
 * rejects; everything it started has ended when it resolves.
 */
export async function runSubagent(task: Task, given: TaskRun): Promise<TaskOutcome> {
  const { services, order, isolation } = given;
  let run = given;
  const startedAt = performance.now();
  const { consumption } = task.resumes?.totals ?? nothingSpent;
  const { budget } = services;
  const { meter, share, permissions, client } = sharesOf(task, given);
  let subagent: Subagent | undefined;
  let tree: IsolatedTree | undefined;
  let work: Work | undefined;
  let failure: string | undefined;
  const emit = (event: SessionEvent) => services.session().report(event);
  const stop = (): void => void subagent?.stop().catch(() => undefined);
  run.signal.addEventListener("abort", stop, { once: true });
  const fail = (error: unknown): void => {
    failure ??= errorMessage(error);
    stop();
  };
  const name = { id: task.id, agent: task.agent.name };
  let hasStarted = false;
  try {
    run = { ...given, copy: await openCopy(task, given, fail) };
    services.subagents.note(task.id, run.copy && storedIn(run, run.copy));
    tree = await isolation?.createTree();
    if (tree !== undefined) await prepare(tree, task, run);
    run.signal.throwIfAborted();
    await emit({ type: "subagent_start", ...name, isolated: order.isolated });
    hasStarted = true;
    const context = { cwd: tree?.cwd, meter, share, permissions, emit };
    subagent = await startSubagent(task, run, context);
    run.copy?.attach(subagent);
    services.subagents.attach(task.id, subagent);
    await services.feed.join(subagent);
    await share.bind(subagent);
    await permissions.bind(subagent);
    for (const each of client) await each.bind(subagent);
    run.signal.throwIfAborted();
    work = await doWork({ task, run, subagent, tree, emit });
    await settleUse(subagent, meter, budget);
    await keepLines(services.subagents, task.id, { subagent, copy: run.copy });
  } catch (error) {
    fail(error);
  }
  run.signal.removeEventListener("abort", stop);
  share.end();
  permissions.end();
  for (const each of client) each.end();
  if (subagent !== undefined) services.feed.leave(subagent);
  await subagent?.stop().catch(() => undefined);
  await run.copy?.close();
  const kept = await keepAll(run, { work, tree }).catch((error: unknown): KeptResult => {
    failure ??= errorMessage(error);
    return {};
  });
  await tree?.remove().catch(() => undefined);
  const status = statusOf(run, work?.reply, failure);
  const verification = work?.verification ?? unverified(order);
  const exitCode = exitCodeOf(status, verification);
  if (hasStarted) {
    const verified = verification === undefined ? {} : { verification };
    await emit({ type: "subagent_end", ...name, exitCode, ...verified });
  }
  const { parts = [], ...told } = kept;
  const captured = work?.tree;
  const mayMerge = exitCode === 0 && captured !== undefined && parts.length > 0;
  return {
    change: mayMerge ? { tree: captured.tree, parts } : undefined,
    wasTaken: true,
    result: {
      ...name,
      description: task.description,
      status,
      exitCode,
      ...(await keepOutput(run, work?.reply.text ?? "")),
      error: run.signal.aborted ? endings[status] : (failure ?? work?.reply.error),
      answer: work?.answer,
      isolated: order.isolated,
      ...told,
      verification,
      sessionFile: subagent?.sessionFile,
      storedSession: run.copy?.reference,
      used: minus(meter.total, consumption),
      ...(meter.hasReadForeign && { untrusted: true }),
      durationMs: Math.round(performance.now() - startedAt),
    },
  };
}

/** What the subagent shares with its caller, in the caller's current state. */
function sharesOf(task: Task, { services, shares }: TaskRun) {
  const { budget, session } = services;
  const before = task.resumes?.totals;
  const meter = new SubagentMeter(before?.consumption);
  const used = () => meter.total;
  const { hostTools } = session();
  return {
    meter,
    share: new BudgetShare({ budget, count: shares, used, before }),
    permissions: new PermissionShare(session().permissions, task.agent.permissionMode),
    client: [
      new ClientShare({
        items: () => services.hostTools(task.id, task.agent),
        onChange: (listener) => hostTools.onChange(listener),
        pass: (subagent, tools) => subagent.setHostTools?.(tools),
      }),
      new ClientShare({
        items: () => hostTools.uris.share(task.id),
        onChange: (listener) => hostTools.uris.onChange(listener),
        pass: (subagent, served) => subagent.setHostUris?.(served),
      }),
    ],
  };
}

/** Applies earlier work to the tree, and lets new work survive this host. */
async function prepare(
  tree: IsolatedTree,
  { id, resumes }: Task,
  { isolation, artifactsFolder, fileName, services }: TaskRun,
): Promise<void> {
  const { treePatch } = resumes?.record ?? {};
  if (treePatch !== undefined) await isolation?.keepLeft(treePatch).catch(() => undefined);
  const keptPatch = resumes && (await patchOf(resumes.record));
  if (keptPatch !== undefined) {
    services.subagents.note(id, { keptPatch, treePatch: undefined });
    await tree.apply(keptPatch);
  }
  const name = join(artifactsFolder, fileName);
  await tree.secure(name);
  services.subagents.note(id, { treePatch: `${name}.patch` });
}

function storedIn(run: TaskRun, copy: SubagentCopy) {
  return { storedSession: copy.reference, directory: ownFolder(run) };
}

/** Keeps the lines of a conversation without a file in this host's memory. */
async function keepLines(
  subagents: TaskServices["subagents"],
  id: string,
  { subagent, copy }: { readonly subagent: Subagent; readonly copy: SubagentCopy | undefined },
): Promise<void> {
  if (copy !== undefined || subagent.sessionFile !== undefined) return;
  subagents.keepLines(id, await subagent.transcript?.().catch(() => undefined));
}

async function startSubagent(
  task: Task,
  run: TaskRun,
  context: {
    cwd: string | undefined;
    meter: SubagentMeter;
    share: BudgetShare;
    permissions: PermissionShare;
    emit: (event: SessionEvent) => void | Promise<void>;
  },
): Promise<Subagent> {
  const { services, order } = run;
  const { environment, budget } = services;
  const session = services.session();
  const depth = task.resumes?.record.depth ?? services.depth + 1;
  return services.runner({
    id: task.id,
    agent: task.agent,
    cwd: context.cwd ?? environment.cwd,
    standsFor: standsFor(environment, context.cwd !== undefined),
    ...(await chooseModel(task, order, session)),
    fallbackModels: task.agent.fallbackModels ?? session.fallbackModels,
    resumes: task.resumes?.sessionFile,
    sessionDirectory:
      run.copy !== undefined ? ownFolder(run) : session.sessionFile && run.artifactsFolder,
    depth,
    excludedTools: services.excludedTools(task.agent),
    maySpawn: maySpawnAt(services, depth) && task.agent.spawns?.length !== 0,
    isProjectTrusted: session.isProjectTrusted,
    mcpServers: session.mcpServers(task.agent.mcpServers ?? []),
    budget: context.share.limits,
    permissions: context.permissions.change,
    traceparent: environment.traceparentOf?.(run.toolCallId),
    approve: (asked, { signal }) => session.approve(task.id, asked, endedWith(signal, run.signal)),
    raiseBudget: (asked, { signal }) =>
      context.share.raise(asked, { agentId: task.id, signal: endedWith(signal, run.signal) }),
    answerQuestions: session.answerQuestions(task.id, run.signal),
    signal: run.signal,
    onEvent: (event) => {
      const used = context.meter.note(event);
      if (used !== undefined) budget.add(used);
      const report = services.feed.reportOf(task.id, event);
      // A slow client delays the subagent, as it delays a run.
      const send = () => report && context.emit(report);
      const wait = run.copy === undefined ? send() : run.copy.announce(event, send);
      run.onProgress(event, context.meter.total);
      return wait;
    },
  });
}

/** The user's folder that a subagent's folder is a copy of, however deeply it is nested. */
function standsFor(
  { cwd, copy }: TaskServices["environment"],
  isIsolated: boolean,
): string | undefined {
  const own = copy?.();
  if (own !== undefined) return asOwnFile(cwd, own);
  return isIsolated ? cwd : undefined;
}

/** The call's model wins over the agent file's, and that over the session's. */
async function chooseModel(
  { agent }: Task,
  { modelPattern }: TaskOrder,
  session: ReturnType<TaskServices["session"]>,
): Promise<Pick<SubagentRequest, "modelPattern" | "model" | "thinkingLevel">> {
  const pattern = modelPattern ?? agent.model;
  const found = pattern === undefined ? undefined : await session.findModel(pattern);
  const called = modelPattern === undefined ? undefined : found?.thinkingLevel;
  const level = called ?? agent.thinkingLevel ?? found?.thinkingLevel;
  return {
    model: found?.model ?? session.model,
    modelPattern: found === undefined ? pattern : undefined,
    thinkingLevel: level ?? session.thinkingLevel,
  };
}

async function doWork(context: {
  task: Task;
  run: TaskRun;
  subagent: Subagent;
  tree: IsolatedTree | undefined;
  emit: (event: SessionEvent) => void | Promise<void>;
}): Promise<Work> {
  const { task, run, subagent, tree } = context;
  const { order, services } = run;
  const first = await ask(task.prompt, run, subagent);
  let { answer } = first;
  const { reply } = first;
  if (tree === undefined || isUnusable(reply, answer)) {
    // The work of a failed subagent is kept for inspection.
    return { reply, answer, tree: await tree?.capture().catch(() => undefined) };
  }
  if (order.verify.kind !== "plan" || order.verify.plan.mode === "none") {
    return { reply, answer, tree: await tree.capture() };
  }
  const { environment } = services;
  // Checks run in the tree, because what they write belongs there.
  const { close, ...place } = (await environment.encloseFolder?.(tree.cwd)) ?? {};
  const verified = await verifyWork({
    id: task.id,
    plan: order.verify.plan,
    environment: { ...environment, ...place, cwd: tree.cwd },
    artifactsFolder: run.artifactsFolder,
    fileName: run.fileName,
    contextLineLimit: services.settings.get("task.verification.failureContextLineLimit"),
    signal: run.signal,
    emit: context.emit,
    isBudgetExceeded: () => services.budget.signal.aborted,
    capture: () => tree.capture(),
    restore: (captured) => tree.restore(captured),
    repair: async (text) => {
      // An earlier verification may no longer apply to the changed work.
      const repaired = await ask(text, run, subagent);
      if (!isUnusable(repaired.reply, repaired.answer)) answer = repaired.answer;
      return repaired.reply;
    },
  }).finally(() => close?.());
  return { reply: verified.lastReply ?? reply, answer, ...verified };
}

/** Sends the prompt for the work, then asks again until the answer fits its schema. */
async function ask(
  text: string,
  run: TaskRun,
  subagent: Subagent,
): Promise<Pick<Work, "reply" | "answer">> {
  const { answerSchema } = run.order;
  if (answerSchema === undefined) return { reply: await tell(subagent, text, run) };
  let prompt = `${text}\n\n${answerSchema.instruction}`;
  for (let attempts = 1; ; attempts++) {
    const reply = await tell(subagent, prompt, run);
    if (reply.status !== "completed") return { reply, answer: { attempts } };
    const checked = answerSchema.check(reply.text);
    if ("value" in checked) return { reply, answer: { value: checked.value, attempts } };
    if (attempts === MAX_ANSWERS) {
      const error = `The answer did not fit outputSchema after ${attempts} attempts:\n${checked.problem}`;
      return { reply: { ...reply, status: "error", error }, answer: { attempts } };
    }
    prompt = `That answer does not fit the schema:\n${checked.problem}\n\nSend the whole answer again. ${answerSchema.instruction}`;
  }
}

/** If the subagent dies, its work and the earlier verification are kept. */
async function tell(
  subagent: Subagent,
  text: string,
  { copy, services }: Pick<TaskRun, "copy" | "services">,
): Promise<SubagentReply> {
  const reply = await subagent
    .prompt(text, services.session().isAfterUntrusted())
    .catch(
      (error: unknown) => ({ status: "error", text: "", error: errorMessage(error) }) as const,
    );
  await copy?.afterPrompt();
  return reply;
}

function isUnusable(reply: SubagentReply, answer: TaskResult["answer"]): boolean {
  return reply.status !== "completed" || (answer !== undefined && !("value" in answer));
}

function statusOf(
  run: TaskRun,
  reply: SubagentReply | undefined,
  failure: string | undefined,
): TaskStatus {
  if (run.signal.aborted) return run.abortStatus();
  if (failure !== undefined || reply === undefined) return "failed";
  if (reply.status === "completed") return "completed";
  return reply.status === "aborted" ? "aborted" : "failed";
}

/** The result of a requested verification that never reached its first attempt. */
function unverified({ verify }: TaskOrder): VerificationResult | undefined {
  if (verify.kind === "off") return undefined;
  const nothing = { attempts: [], retriesUsed: 0 };
  if (verify.kind === "disabled") return { requested: true, status: "skipped", ...nothing };
  const { profile, mode, onFailure } = verify.plan;
  const named = { ...(profile !== undefined && { profile }), mode, onFailure };
  const isWanted = mode === "command";
  const status = isWanted ? "skipped" : "not_requested";
  return { requested: isWanted, ...named, status, ...nothing };
}
