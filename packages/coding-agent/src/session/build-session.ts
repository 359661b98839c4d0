import { Retry } from "@tau-agent/models";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import {
  Conversation,
  loadedTools,
  noteOf,
  openQuestions,
  resumedModel,
  type SessionLog,
} from "@tau-agent/sessions/log";
import { type Diagnostic, EventBus, Withdrawal } from "@tau-agent/system";
import { ApprovalLog } from "../approvals/approval-log.ts";
import { ToolGate } from "../approvals/tool-gate.ts";
import { Compaction } from "../compaction/compaction.ts";
import { ResultClearing } from "../compaction/result-clearing.ts";
import { summaryModel } from "../compaction/summary-model.ts";
import { isAfterUntrusted } from "../foreign-text/after-untrusted.ts";
import { Admission } from "../run/admission.ts";
import { BashCommands } from "../run/bash-commands.ts";
import { createSessionAgent } from "../run/create-session-agent.ts";
import { JobNotices } from "../run/job-notices.ts";
import { ModelRequests } from "../run/model-requests.ts";
import { OpenOutputs } from "../run/open-outputs.ts";
import { ProblemReport } from "../run/problem-report.ts";
import { PromptIntake } from "../run/prompt-intake.ts";
import { PromptOrigins } from "../run/prompt-origins.ts";
import { RequestSetup } from "../run/request-setup.ts";
import { isWholeReply, RunContinuation } from "../run/run-continuation.ts";
import { RunDriver } from "../run/run-driver.ts";
import { RunEnd } from "../run/run-end.ts";
import { StepLimits } from "../run/step-limits.ts";
import { warmingAccount } from "../run/warming-account.ts";
import type { PromptTrace } from "../telemetry/session-telemetry.ts";
import { SessionTodos } from "../todos/session-todos.ts";
import { ASK_USER } from "../tools/ask-user/definition.ts";
import { absolutePath } from "../tools/common/paths.ts";
import { createLlmConverter, type FindText } from "../user-input/llm-messages.ts";
import { buildModels } from "./build-models.ts";
import type { SessionInputs } from "./session-inputs.ts";
import { SessionNavigation } from "./session-navigation.ts";
import type { Later, Loop, Reports, SessionParts, Work } from "./session-parts.ts";
import { SessionWork } from "./session-work.ts";

/** Events that clients get even if a store did not accept the entries before. */
const endEvents: ReadonlySet<string> = new Set([
  "turn_end",
  "agent_end",
  "agent_settled",
  "prompt_result",
  "error",
]);

export function buildSession(inputs: SessionInputs): SessionParts {
  const later: Later = () => parts;
  const reports = buildReports(inputs, later);
  const loop = buildLoop(inputs, reports, later);
  const parts: SessionParts = { inputs, ...reports, ...loop, ...buildWork(inputs, reports, loop) };
  return parts;
}

function buildReports(inputs: SessionInputs, later: Later): Reports {
  const { diagnostics } = inputs;
  const origins = new PromptOrigins();
  const events = new EventBus<SessionEvent>({
    // A compaction or a move in the tree stops the run and does not belong to it.
    promptId: () => (origins.current && later().driver.isWorking ? undefined : origins.current),
    onListenerError: (error) => problems.noteListenerError(error),
    until: () => later().conversation.log.stored(),
    isEnd: ({ type }) => endEvents.has(type),
    isStopping: () => later().admission.isClosed || later().driver.signal?.aborted === true,
  });
  const problems = new ProblemReport(diagnostics, (event) => void events.emit(event));
  return {
    events,
    emit: (...event) => events.emit(...event),
    problems,
    origins,
    outputs: new OpenOutputs(),
    limits: new StepLimits(() => inputs.maxTurns ?? inputs.settings.get("maxTurns")),
  };
}

function buildClearing(inputs: SessionInputs, later: Later): ResultClearing {
  const { settings, tools, toolEnvironment } = inputs;
  return new ResultClearing({
    settings,
    tools,
    conversation: () => later().conversation,
    model: () => later().answering.model,
    retention: (model) => later().requests.retentionFor(model),
    lastUse: () => later().warming.lastUse,
    resolvePath: (written) => absolutePath(written, toolEnvironment),
  });
}

function buildGate(inputs: SessionInputs, { origins }: Reports, later: Later): ToolGate {
  const { permissions, requests: asked, saveRules, tools, toolEnvironment } = inputs;
  return new ToolGate({
    permissions,
    requests: asked,
    environment: toolEnvironment,
    log: new ApprovalLog(
      (entry) => later().conversation.append({ type: "approval", ...entry }),
      () => later().conversation.log.stored(),
    ),
    isAfterUntrusted: () => isAfterUntrusted(later().conversation.log.tree.ancestors()),
    isBuiltIn: (tool) => tools.sourceOf(tool) === "builtin",
    extensions: inputs.hooks?.tools,
    isProjectTrusted: inputs.isProjectTrusted,
    saveRules,
    asksWithoutSandbox: inputs.sandboxed.policy?.whenUnavailable === "ask",
    promptId: () => origins.current,
    endRun: () => later().agent.abort(),
    conversation: () => later().conversation,
    timeoutMs: () => inputs.settings.get("questions.timeoutMs"),
  });
}

function buildLoop(inputs: SessionInputs, reports: Reports, later: Later): Loop {
  const { events, emit, problems, origins, outputs, limits } = reports;
  const { tools, telemetry } = inputs;
  const gate = buildGate(inputs, reports, later);
  const clearing = buildClearing(inputs, later);
  const findTexts = (time?: number): FindText => {
    const { notes } = conversation;
    const lineOf = clearing.linesAt(time);
    return (message) => (message.role === "toolResult" ? lineOf(message) : noteOf(notes, message));
  };
  const { agent, warming } = createSessionAgent(
    { ...inputs, gate, limits },
    {
      prepareRequest: () => requests.prepare(origins.nextInitiator()),
      currentModel: () => answering.model,
      accountForWarming: () => warmingAccount(conversation, inputs.budget),
      findTexts,
      record: (message) => record(message, later()),
      conclude: (reply) => outputs.judge(reply, agent.messages),
      replaced: (from, to) => origins.transfer(from, to),
      emit: (event) => {
        if (event.type === "message_start") origins.noteDelivery(event.message);
        if (event.type === "turn_end") limits.noteTurn();
        const wait = emit(event);
        if (!isWholeReply(event)) return wait;
        return Promise.resolve(wait).then(() => later().continuation.noteReply());
      },
      beforeToolRuns: (tool, call) => {
        const recorded = () => inputs.rewind.beforeTool(tool, call);
        return conversation.log.parts?.restoreNamed(call.arguments)?.then(recorded) ?? recorded();
      },
      beforeToolCalls: ({ length }) => inputs.budget.admit({ calls: length }),
      beforeModelCall: async () => {
        await clearing.runWhenDue();
        await later().compaction.runWhenDue(driver.signal);
        await requests.tellChanges();
      },
    },
  );
  const driver = new RunDriver({
    agent,
    onRunBegin: (input) => {
      origins.beginRun(input);
      clearing.beginRun(input);
      limits.begin(origins.current);
      if (input.some(({ role }) => role === "user")) answering.begin();
      telemetry?.beginRun(input, traceOfRun(input, origins));
    },
    onRunEnd: (input, outcome, signal) => later().runEnd.end(input, outcome, signal),
    onSettled: (aborted) => later().runEnd.settle(aborted),
    takeNotices: () => later().notices.take(),
    onStop: () => events.letGo(),
    onFailure: (error) => problems.add(error),
  });
  const { models, answering } = buildModels(inputs, reports, later);
  const setup = new RequestSetup({
    conversation: () => conversation,
    isFixed: (tool) => ["builtin", "mcp"].includes(tools.sourceOf(tool)),
    toLlmMessages: (messages, time) => createLlmConverter(() => findTexts(time))(messages),
  });
  const conversation = new Conversation(inputs.log, {
    agent,
    models,
    environment: inputs.environment,
    openLog: inputs.openLog,
    adoptLog: (log) => {
      tools.restoreLoaded(loadedTools(log.tree));
      setup.restore(log.tree);
      tools.need(ASK_USER, setup.declares(ASK_USER) === true);
      clearing.adoptLog(log);
      inputs.survival?.adoptLog(log);
      answering.restore(resumedModel(log.tree).fallback);
      followWriter(log, reports, later);
    },
    enterFolder: (log) => {
      const { hasMoved, diagnostics } = inputs.enterFolder(log);
      if (hasMoved) requests.forgetSystemPrompt();
      return diagnostics;
    },
    note: (diagnostic) => problems.note(diagnostic),
  });
  const requests = new ModelRequests({
    ...inputs,
    models,
    answering,
    outputs,
    setup,
    sessionId: () => conversation.log.header.id,
    messages: () => agent.messages,
    onDiagnostic: (diagnostic) => problems.note(diagnostic),
  });
  return { agent, warming, gate, driver, models, answering, conversation, requests, clearing };
}

/** Writes a message of the agent; resolves once it is stored. */
function record(
  message: AgentMessage,
  { inputs, conversation, origins, clearing, compaction, intake }: SessionParts,
): void | Promise<void> {
  conversation.record(message, origins.of(message));
  if (message.role === "toolResult") clearing.noteResult(message);
  const noted = (): void => {
    if (message.role === "user") compaction.notePrompt();
    if (message.role === "toolResult") inputs.survival?.noteResult(message);
    intake.noteRecorded(message);
  };
  const stored = conversation.log.stored();
  return stored === undefined ? noted() : stored.then(noted);
}

function buildWork(inputs: SessionInputs, reports: Reports, loop: Loop): Work {
  const { emit, problems, origins, outputs, limits } = reports;
  const { settings, hooks, toolEnvironment, registry } = inputs;
  const { agent, gate, driver, answering, conversation, requests } = loop;
  const shared = { ...inputs, emit, agent, driver, conversation };
  const admission = new Admission();
  const intake = new PromptIntake({
    ...shared,
    origins,
    outputs,
    limits,
    admission,
    check: async (goesOn) => {
      await conversation.recover();
      await requests.check();
      if (!goesOn) await inputs.survival?.closeCalls();
    },
    survival: inputs.survival,
    onSteer: () => {
      if (agent.interruptMode === "immediate") gate.withdraw(new Withdrawal("abort"));
    },
  });
  const retry = new Retry({ settings, emit, keys: registry.keys });
  const prepareRequest = () => requests.prepare();
  const todos = new SessionTodos({
    conversation,
    tell: async (message) => {
      if (driver.isRunning) agent.nextTurn.enqueue(message);
      else await addMessage(conversation, emit, message);
    },
  });
  const note = (diagnostic: Diagnostic): void => problems.noteOnce(diagnostic);
  const compaction = new Compaction({
    ...shared,
    model: () => answering.model,
    todos: () => todos.items,
    prepareRequest: async () =>
      requests.prepare("agent", await summaryModel({ settings, registry, note })),
    retry,
    answering,
    decide: hooks?.decideCompaction,
    onCompacted: () => loop.clearing.run(),
  });
  const going = { ...shared, retry, answering, compaction, hooks, todos };
  const continuation = new RunContinuation(going);
  const bash = new BashCommands({
    environment: toolEnvironment,
    sandboxed: inputs.sandboxed,
    isHeld: () => driver.isRunning,
    record: (message) => conversation.add(message),
    hooks,
  });
  const notices = new JobNotices({ agent, driver, intake, admission, problems });
  const runEnd = new RunEnd({ ...shared, continuation, intake, problems, bash, origins });
  const work = new SessionWork({ ...shared, admission, intake, bash, gate });
  const askAgain = (ready = Promise.resolve()): void => {
    const questions = openQuestions(conversation.log);
    if (questions === undefined || inputs.asksAgain === undefined) return;
    conversation.resumeCalls();
    gate.resume(questions.requestIds);
    intake.continueRun(questions.promptId);
    // Calls that were left open before the question are included.
    driver.resume(inputs.survival?.openReply(conversation.log) ?? questions, ready);
  };
  if (inputs.asksAgain !== undefined) askAgain(inputs.asksAgain);
  const navigation = new SessionNavigation({
    ...shared,
    cwd: toolEnvironment.cwd,
    home: inputs.home,
    folderHere: inputs.folderHere,
    replaceLog: (next, isContinued) => work.replaceLog(next, isContinued),
    perform: (moving) => work.perform(moving),
    onContinued: () => askAgain(),
    summarizer: { ...inputs, prepareRequest, retry, answering },
  });
  const begun = { admission, intake, retry, compaction, todos, bash, notices };
  return { ...begun, continuation, runEnd, work, navigation };
}

function traceOfRun(
  input: readonly AgentMessage[],
  origins: PromptOrigins,
): PromptTrace | undefined {
  const traces = input.map((message) => origins.of(message)?.trace);
  return traces.find((trace) => trace !== undefined);
}

/** Ends the run if the session's writer fails, or another host has taken the session over. */
function followWriter(log: SessionLog, { events }: Reports, later: Later): void {
  const stop = (): void => {
    const { conversation, driver } = later();
    conversation.rebuild();
    if (driver.isBusy) void driver.abort();
  };
  log.follow({
    onStatus: (status) => void events.emitNow({ type: "session_store_status", status }),
    onFailed: stop,
    onLost: () => {
      void events.emitNow({ type: "session_lost", reason: "lease_lost" });
      stop();
    },
  });
}

export async function addMessage(
  conversation: Conversation,
  emit: Reports["emit"],
  message: Parameters<Conversation["add"]>[0],
): Promise<void> {
  conversation.add(message);
  await emit({ type: "message_start", message });
  await emit({ type: "message_end", message });
}
