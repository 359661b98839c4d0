import type { RemoteEvent, RemoteSession } from "@tau-agent/rpc-client/browser";
import type { Result } from "@tau-agent/rpc-protocol";
import type { AgentMessage, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";

/** A running tool call with its output so far. */
export interface RunningCall {
  readonly output: string;
}

export interface Subagent {
  readonly id: string;
  readonly agent: string;
  /** The purpose of the subagent; loaded after it has started. */
  readonly description?: string;
  readonly status: "running" | "done" | "failed";
  /** The current activity. */
  readonly doing: string;
}

export type Jobs = Result<"list_jobs">["jobs"];

const SIDE_MS = 500;

/** A session as it is shown: its conversation and current activity. */
export class LiveSession {
  readonly session: RemoteSession;
  messages: readonly AgentMessage[] = [];
  /** The reply that is streaming. */
  growing: AgentMessage | undefined;
  results = new Map<string, ToolResultMessage>();
  running = new Map<string, RunningCall>();
  subagents = new Map<string, Subagent>();
  state: Result<"get_state"> | undefined;
  stats: Result<"get_session_stats"> | undefined;
  jobs: Jobs = [];
  queue: readonly { readonly itemId: string; readonly text: string; readonly kind: string }[] = [];
  note = "";
  readonly #onChange: () => void;
  #leave: () => void = () => {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  private constructor(session: RemoteSession, onChange: () => void) {
    this.session = session;
    this.#onChange = onChange;
  }

  static async open(session: RemoteSession, onChange: () => void): Promise<LiveSession> {
    const live = new LiveSession(session, onChange);
    live.#leave = session.onEvent((event: RemoteEvent) => live.#hear(event));
    await session.setSubagentSubscription("activity").catch(() => {});
    await live.#read();
    return live;
  }

  get isBusy(): boolean {
    return this.state?.isStreaming === true;
  }

  leave(): void {
    clearTimeout(this.#timer);
    this.#leave();
  }

  /** Sends a prompt, or a steering message if a run is active. */
  async send(message: string): Promise<void> {
    await this.session.prompt(message, this.isBusy ? { streamingBehavior: "steer" } : {});
  }

  /** Stops the run and discards its queue. */
  async abort(): Promise<void> {
    await this.session.clearQueue();
    await this.session.abort();
  }

  /** Reads the conversation again, for example after a rewind. */
  async reload(): Promise<void> {
    await this.#read();
  }

  async #read(): Promise<void> {
    const { messages } = await this.session.getMessages();
    this.messages = messages;
    this.results = new Map(
      messages.flatMap((one) => (one.role === "toolResult" ? [[one.toolCallId, one]] : [])),
    );
    const { subagents } = await this.session.listSubagents();
    this.subagents = new Map(subagents.map((one) => [one.id, { ...one, ...stateOf(one.status) }]));
    await this.#readSides();
    this.#onChange();
  }

  async #readSides(): Promise<void> {
    const [state, stats, { jobs }] = await Promise.all([
      this.session.getState(),
      this.session.getSessionStats(),
      this.session.listJobs(),
    ]);
    Object.assign(this, { state, stats, jobs });
    await this.#readDescriptions();
    this.#onChange();
  }

  /** The start event does not contain the description. */
  async #readDescriptions(): Promise<void> {
    const hasAll = [...this.subagents.values()].every((one) => one.description !== undefined);
    if (hasAll) return;
    const { subagents } = await this.session.listSubagents();
    for (const { id, description } of subagents) this.#changeSubagent(id, { description });
  }

  /** Schedules one update for all events that arrive together. */
  #readSidesSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#readSides().catch(() => {});
    }, SIDE_MS);
  }

  #hear(event: RemoteEvent): void {
    switch (event.type) {
      case "reconnected":
        void this.#read().catch(() => {});
        return;
      case "message_start":
        if (event.message.role === "assistant") this.growing = event.message;
        break;
      case "message_update":
        this.growing = event.message;
        break;
      case "message_end":
        this.#add(event.message);
        break;
      case "tool_execution_start":
        this.running.set(event.toolCallId, { output: "" });
        break;
      case "tool_execution_update": {
        const output = event.partialResult.content
          .map((block) => (block.type === "text" ? block.text : ""))
          .join("");
        this.running.set(event.toolCallId, { output });
        break;
      }
      case "tool_execution_end":
        this.running.delete(event.toolCallId);
        break;
      case "queue_update":
        this.queue = event.items ?? [];
        break;
      case "prompt_result":
        this.note = event.status === "error" ? (event.error ?? "The run failed") : "";
        break;
      case "subagent_start": {
        const { id, agent } = event;
        this.subagents.set(id, { id, agent, status: "running", doing: "" });
        break;
      }
      case "subagent_end":
        this.#changeSubagent(event.id, {
          status: event.exitCode === 0 ? "done" : "failed",
          doing: "",
        });
        break;
      case "subagent_event": {
        const { toolName, type } = event.event as { toolName?: unknown; type: string };
        if (type === "tool_execution_start")
          this.#changeSubagent(event.id, { doing: String(toolName) });
        break;
      }
      default:
        break;
    }
    this.#onChange();
    if (!/_(?:update|event)$/.test(event.type)) this.#readSidesSoon();
  }

  #add(message: AgentMessage): void {
    if (message.role === "assistant") this.growing = undefined;
    if (message.role === "toolResult") this.results.set(message.toolCallId, message);
    this.messages = [...this.messages, message];
  }

  #changeSubagent(id: string, change: Partial<Subagent>): void {
    const known = this.subagents.get(id);
    if (known !== undefined) this.subagents.set(id, { ...known, ...change });
  }
}

/** The state of a subagent that changed before the page was opened. */
function stateOf(status: string): Pick<Subagent, "status" | "doing"> {
  if (status === "running") return { status, doing: "" };
  return { status: status === "completed" ? "done" : "failed", doing: "" };
}
