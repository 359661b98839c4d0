import { randomUUID } from "node:crypto";
import type {
  AgentContext,
  ClientCapabilities,
  ContentBlock,
  PromptResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { AgentSession, PromptResult, SessionEvent } from "@tau-agent/coding-agent";
import type { ResourceReference } from "@tau-agent/rpc-protocol/messages";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { ApprovalRequest } from "../client/client-requests.ts";
import { ClientRequests } from "../client/client-requests.ts";
import { commandsUpdate } from "../mapping/commands.ts";
import { ofMessage } from "../mapping/content.ts";
import { requestError } from "../mapping/errors.ts";
import { EventUpdates, said } from "../mapping/event-updates.ts";
import { planUpdate } from "../mapping/plan.ts";
import { linkedAddresses, promptInput, type SessionPrompt } from "../mapping/prompt-input.ts";
import { replay, userMessage } from "../mapping/replay.ts";
import { turnEnd } from "../mapping/stop-reason.ts";
import { usageUpdate } from "../mapping/usage.ts";
import { PromptQueue, type Ticket } from "./prompt-queue.ts";
import { SessionChoices } from "./session-choices.ts";
import { titleOf } from "./session-title.ts";
import { stopTurn } from "./stop-turn.ts";
import { UpdateLine } from "./update-line.ts";

/** A call that runs longer than this is shown as running, unless the user is being asked about it. */
const SHOWN_RUNNING_MS = 100;

export interface AcpSessionOptions {
  readonly sessionId: string;
  readonly session: AgentSession;
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
  /** The MCP servers whose login was already offered to the client, in any session. */
  readonly offeredLogins: Set<string>;
}

type AskedPrompt = SessionPrompt & { readonly links: readonly string[] };

const cancelled: PromptResponse = { stopReason: "cancelled" };

export class AcpSession {
  readonly sessionId: string;
  readonly session: AgentSession;
  readonly additionalDirectories: readonly string[];
  readonly choices: SessionChoices;
  readonly #updates: EventUpdates;
  readonly #line: UpdateLine;
  readonly #requests: ClientRequests;
  readonly #offeredLogins: Set<string>;
  readonly #prompts = new PromptQueue();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #title: string | undefined;
  #promptId: string | undefined;

  constructor(options: AcpSessionOptions) {
    const { sessionId, session, client, capabilities, additionalDirectories = [] } = options;
    this.sessionId = sessionId;
    this.session = session;
    this.additionalDirectories = additionalDirectories;
    this.#offeredLogins = options.offeredLogins;
    this.#line = new UpdateLine((update) => client.notify("session/update", { sessionId, update }));
    this.#updates = new EventUpdates({
      cwd: () => session.cwd,
      client: capabilities,
      newId: randomUUID,
    });
    for (const id of callIds(session.messages)) this.#updates.calls.noteUsed(id);
    this.choices = new SessionChoices(session);
    this.#title = titleOf(session);
    session.subscribe((event, { promptId }) => this.#hear(event, promptId));
    session.permissions.onChange(() => this.#tellChanges());
    session.onDiagnostic(({ severity, message }) => this.tell(severity, message));
    this.#requests = new ClientRequests({
      client,
      capabilities,
      sessionId,
      session,
      callShown: (request, signal) => this.#showCall(request, signal),
      idOfCall: (toolCallId) => this.#updates.calls.idOf(toolCallId),
      onDecided: (request, isAllowed) => this.#decided(request, isAllowed),
    });
    session.requests.attach(this.#requests);
  }

  /** Answers a prompt; a second prompt waits for the first. */
  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const input = { ...promptInput(blocks), links: linkedAddresses(blocks) };
    return this.#prompts.run((ticket) => this.#turn(input, ticket), { signal, cancelled });
  }

  /** Cancels all prompts, running or waiting; without any, aborts the work of an extension. */
  cancel(): void {
    if (this.#prompts.isBusy) this.#prompts.cancelAll();
    else if (this.session.isBusy) void this.session.abort();
  }

  async close(): Promise<void> {
    this.cancel();
    await this.session.dispose();
    await this.#prompts.settled();
  }

  /** Sends the conversation so far; resolves once it has been sent. */
  async replay(): Promise<void> {
    const { log, todos, cwd } = this.session;
    await this.#line.add(() => {
      const entries = log.tree.branch();
      const plan = todos.items.length === 0 ? [] : [planUpdate(todos.items)];
      const { calls, client } = this.#updates;
      return [...replay(entries, { calls, cwd, client }), ...plan];
    });
  }

  /** Sends what the client cannot know yet: commands, usage and title. */
  introduce(): void {
    void this.#line.add(() => {
      const title = titleOf(this.session);
      const named = title === undefined ? [] : [titleUpdate(title)];
      const isUsed = this.session.log.totals.assistantMessages > 0;
      return [...named, ...(isUsed ? this.#usage() : [])];
    });
    this.#tellCommands();
    for (const { severity, message } of this.session.diagnostics) this.tell(severity, message);
  }

  showTerminal(toolCallId: string, terminalId: string): void {
    void this.#line.add(() => this.#updates.calls.showTerminal(toolCallId, terminalId));
  }

  tell(severity: "info" | "warning" | "error", text: string): void {
    void this.#line.add(() => this.#updates.notice(severity, text));
  }

  async #turn({ text, links, ...input }: AskedPrompt, ticket: Ticket): Promise<PromptResponse> {
    const promptId = randomUUID();
    this.#promptId = promptId;
    const { promise: stopped, resolve: onStop } = Promise.withResolvers<[]>();
    ticket.onCancel(() => onStop([]));
    const resources = await Promise.race([this.#resourcesOf(links), stopped]);
    if (ticket.isCancelled) return this.#conclude(undefined);
    const options = { ...input, resources, promptId, streamingBehavior: "followUp" as const };
    const outcome = await stopTurn(this.session, ticket, () =>
      this.session.submit(text, options),
    ).catch((error: unknown) => {
      if (ticket.isCancelled) return undefined;
      throw requestError(error);
    });
    return this.#conclude(ticket.isCancelled ? undefined : outcome);
  }

  /** Those of the links that are resources of MCP servers. */
  async #resourcesOf(links: readonly string[]): Promise<ResourceReference[]> {
    const { mcp } = this.session;
    const found = links.map(async (uri) => ({ uri, server: await mcp.serverOf(uri) }));
    return (await Promise.all(found)).flatMap(({ uri, server }) =>
      server === undefined ? [] : [{ server, uri }],
    );
  }

  /** Sends all updates of a turn before its answer. */
  async #conclude(outcome: PromptResult | undefined): Promise<PromptResponse> {
    await this.#line.settled();
    this.#clearTimers();
    try {
      if (outcome === undefined) return cancelled;
      const { stopReason, text } = turnEnd(outcome, usedUp(this.session));
      if (text !== undefined) {
        const chunks = said("agent_message_chunk", text);
        void this.#line.add(() => [...ofMessage(randomUUID(), chunks)]);
      }
      return { stopReason };
    } finally {
      this.#tellChanges();
      this.#tellTitle();
      await this.#line.add(() => this.#updates.calls.fail());
    }
  }

  /** The run waits until the update has been sent. */
  #hear(event: SessionEvent, promptId: string | undefined): Promise<void> | undefined {
    if (event.type === "tool_execution_update") {
      this.#line.addLatest(event.toolCallId, () => this.#updates.map(event));
      return undefined;
    }
    if (event.type === "tool_execution_start") return this.#begin(event);
    if (event.type === "mcp_elicitation_complete") {
      this.#requests.completed(event.server, event.elicitationId);
      return undefined;
    }
    if (event.type === "tool_execution_end") this.#clearTimer(event.toolCallId);
    if (event.type === "turn_start" || event.type === "thinking_level_changed") this.#tellChanges();
    // The client already shows its own prompts.
    const isOwn = promptId !== undefined && promptId === this.#promptId;
    const heard = event.type === "message_end" && !isOwn ? userMessage(event.message) : [];
    const asked = ofMessage(randomUUID(), heard);
    return this.#line.add(() => [...asked, ...this.#updates.map(event), ...this.#following(event)]);
  }

  #begin(event: Extract<SessionEvent, { type: "tool_execution_start" }>): Promise<void> {
    const { toolCallId, toolName, args } = event;
    const timer = setTimeout(() => this.#running(toolCallId), SHOWN_RUNNING_MS);
    this.#timers.set(toolCallId, timer);
    return this.#line.add(async () => {
      const change = await this.session.previewChange(toolName, Object(args));
      const begun = this.#updates.map(event, change);
      const isFree = this.session.permissions.allowsAll;
      return isFree ? [...begun, ...this.#updates.calls.run(toolCallId)] : begun;
    });
  }

  /** Further updates for an event, from the state of the session. */
  #following(event: SessionEvent): SessionUpdate[] {
    if (event.type === "mcp_server_status") {
      if (event.status === "connected") this.#tellCommands();
      if (event.status === "needs_auth") void this.#offerLogin(event.server);
    }
    if (event.type !== "message_end") return [];
    const { message } = event;
    if (message.role === "toolResult" && message.toolName === "todo_write" && !message.isError) {
      return [planUpdate(this.session.todos.items)];
    }
    if (message.role !== "assistant") return [];
    return message.stopReason === "error" ? [] : this.#usage();
  }

  #usage(): SessionUpdate[] {
    const { models, stats } = this.session;
    const contextWindow = models.model?.contextWindow;
    return usageUpdate({
      tokens: stats.contextUsage?.tokens ?? 0,
      contextWindow,
      cost: stats.cost,
    });
  }

  /** Offers the login once to a client that can open pages; otherwise the user runs `tau mcp login`. */
  async #offerLogin(server: string): Promise<void> {
    const { session } = this;
    if (this.#offeredLogins.has(server) || !session.requests.isAnswered("open_url")) return;
    this.#offeredLogins.add(server);
    try {
      await session.mcp.login(server);
      this.#offeredLogins.delete(server);
    } catch (error) {
      this.tell("warning", errorMessage(error));
    }
    this.#requests.completed(server);
  }

  /** Shows a call before the client is asked about it, even if the call is a subagent's. */
  async #showCall(
    { params, toolCallId, agentId }: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const { calls } = this.#updates;
    const id = callIdOf({ toolCallId, agentId });
    if (toolCallId !== undefined) this.#clearTimer(toolCallId);
    await this.#line.add(() => {
      // A question withdrawn meanwhile shows nothing: its turn may be over.
      if (signal.aborted || calls.idOf(id) !== undefined) return [];
      const name = params.toolName;
      return calls.announce({ id, name, args: params.input });
    });
    return calls.idOf(id) ?? id;
  }

  /** A subagent's call reports no outcome, so the decision ends it for the client. */
  #decided({ toolCallId, agentId, params }: ApprovalRequest, isAllowed: boolean): void {
    const { calls } = this.#updates;
    const id = callIdOf({ toolCallId, agentId });
    const result = { content: [], isError: !isAllowed };
    void this.#line.add(() => {
      if (agentId !== undefined) return calls.end(id, params.toolName, result);
      return isAllowed ? calls.run(id) : [];
    });
  }

  #running(toolCallId: string): void {
    const isAsked = this.session.requests.pending.some((one) => one.toolCallId === toolCallId);
    if (!isAsked) void this.#line.add(() => this.#updates.calls.run(toolCallId));
  }

  #clearTimer(toolCallId: string): void {
    clearTimeout(this.#timers.get(toolCallId));
    this.#timers.delete(toolCallId);
  }

  #clearTimers(): void {
    for (const toolCallId of [...this.#timers.keys()]) this.#clearTimer(toolCallId);
  }

  /** Extensions, too, change models, thinking levels and modes. */
  #tellChanges(): void {
    for (const change of this.choices.changes()) void this.#line.add(async () => [await change()]);
  }

  /** The prompts of MCP servers are known once the servers are connected. */
  #tellCommands(): void {
    void this.#line.add(async () => [commandsUpdate(await this.session.listCommands())]);
  }

  #tellTitle(): void {
    const title = titleOf(this.session);
    if (title === undefined || title === this.#title) return;
    this.#title = title;
    void this.#line.add(() => [titleUpdate(title)]);
  }
}

/** A message about the limit that stopped the session, and how to raise it. */
function usedUp({ budget }: Pick<AgentSession, "budget">): string | undefined {
  try {
    // Using up the subagents does not stop the session.
    if (budget.snapshot.reason !== "subagents") budget.check();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** The id of a subagent's call is unique only within the subagent. */
function callIdOf({ toolCallId = "", agentId }: Pick<ApprovalRequest, "toolCallId" | "agentId">) {
  return agentId === undefined ? toolCallId : `${agentId}/${toolCallId}`;
}

function titleUpdate(title: string): SessionUpdate {
  return { sessionUpdate: "session_info_update", title, updatedAt: new Date().toISOString() };
}

function* callIds(messages: AgentSession["messages"]): Generator<string> {
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") yield block.id;
  }
}
