import {
  HarnessCapabilityUnsupportedError,
  HarnessError,
  type HarnessV1ContinueTurnOptions,
  type HarnessV1ContinueTurnState,
  type HarnessV1PromptControl,
  type HarnessV1PromptTurnOptions,
  type HarnessV1ResponseFormat,
  type HarnessV1ResumeSessionState,
  type HarnessV1Session,
  type HarnessV1StartOptions,
  type HarnessV1TurnSettings,
} from "@ai-sdk/harness";
import { endHost } from "./host-socket.ts";
import { continueState, HARNESS_ID, type LifecycleData, resumeState } from "./lifecycle-state.ts";
import { missedEvents } from "./missed-events.ts";
import { readPrompt } from "./read-prompt.ts";
import type { Connected, SessionSeams } from "./session-seams.ts";
import { Turn } from "./turn.ts";
import { writeSkills } from "./write-skills.ts";

/** A position for which no host has frames. */
const nowhere = { streamId: "", seq: 0 };

type Connect = (known: LifecycleData | undefined) => Promise<Connected>;

/** A session of the harness. It connects in its first turn, whose settings the host needs. */
export class TauSession implements HarnessV1Session {
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly #seams: SessionSeams;
  readonly #connect: Connect;
  #known: LifecycleData | undefined;
  #connected: Connected | undefined;
  #signal: AbortSignal | undefined;

  constructor(
    { sessionId }: HarnessV1StartOptions,
    seams: SessionSeams,
    known: LifecycleData | undefined,
    connect: Connect,
  ) {
    this.sessionId = sessionId;
    this.isResume = known !== undefined;
    this.#seams = seams;
    this.#known = known;
    this.#connect = connect;
  }

  async doPromptTurn(options: HarnessV1PromptTurnOptions): Promise<HarnessV1PromptControl> {
    const turn = this.#beginTurn(options, undefined);
    const { session } = await this.#open(options);
    await this.#settle(options, turn);
    const { message, images, attachments } = readPrompt(options.prompt);
    const promptId = crypto.randomUUID();
    this.#known = { ...this.#data(), promptId };
    const outputSchema = schemaOf(options.responseFormat);
    options.emit({ type: "stream-start", ...(await this.#modelId()) });
    await session.prompt(message, {
      promptId,
      ...(images.length > 0 && { images }),
      ...(attachments.length > 0 && { attachments }),
      ...(outputSchema && { outputSchema }),
    });
    this.#abortWith(options.abortSignal, turn);
    return turn;
  }

  async doContinueTurn(options: HarnessV1ContinueTurnOptions): Promise<HarnessV1PromptControl> {
    const { emit } = options;
    emit({ type: "stream-start" });
    const running = this.#seams.turn;
    if (this.#connected !== undefined && running !== undefined && !running.isOver) {
      running.renew({ emit });
      this.#abortWith(options.abortSignal, running);
      return running;
    }
    const turn = this.#beginTurn(options, this.#known);
    turn.hold();
    try {
      const connected = await this.#open(options);
      await connected.session.setHostTools(turn.hostTools);
      if (connected.standing === "live") turn.release();
      else await this.#catchUp(turn, options, connected);
    } catch (error) {
      turn.leave(error);
      throw error;
    }
    this.#abortWith(options.abortSignal, turn);
    return turn;
  }

  /**
   * Shows what the available frames do not contain. In a new host, the turn continues where its stored
   * conversation ends.
   */
  async #catchUp(
    turn: Turn,
    options: HarnessV1ContinueTurnOptions,
    { session, standing, data: { promptId, shown } }: Connected,
  ): Promise<void> {
    if (promptId === undefined) {
      throw new HarnessError({ message: "The state names no turn that could be continued" });
    }
    const shownBefore = { place: turn.place, calls: shown, before: turn.heldReply };
    const missed = missedEvents(await session.getEntries(), promptId, shownBefore);
    if (missed === undefined) {
      const message = "The host of this turn ended before it had stored the prompt; send it again";
      throw new HarnessError({ message });
    }
    if (standing === "reopened") {
      await this.#settle(options, turn);
      const outputSchema = schemaOf(options.responseFormat);
      const resume = { promptId, resume: true, ...(outputSchema && { outputSchema }) };
      const { disposition } = await session.prompt("", resume);
      // The prompt had ended, so its result is sent again.
      const isOver = disposition === "duplicate" && !(await session.getState()).isStreaming;
      if (isOver) turn.hear({ type: "agent_settled" });
    }
    turn.release(missed);
  }

  async doCompact(customInstructions?: string): Promise<void> {
    const { session } = await this.#open(undefined);
    await session.compact(customInstructions);
  }

  async doSuspendTurn(): Promise<HarnessV1ContinueTurnState> {
    const state = continueState(this.#data());
    await this.#disconnect();
    return state;
  }

  async doDetach(): Promise<HarnessV1ResumeSessionState> {
    if (this.#known === undefined) await this.#open(undefined);
    const state = resumeState(this.#data());
    await this.#disconnect();
    return state;
  }

  async doStop(): Promise<HarnessV1ResumeSessionState> {
    if (this.#known === undefined) await this.#open(undefined);
    const data = this.#data();
    await this.#endHost();
    return resumeState({ ...data, position: undefined });
  }

  async doDestroy(): Promise<void> {
    await this.#endHost();
  }

  #beginTurn(
    { emit, tools, responseFormat }: HarnessV1ContinueTurnOptions,
    before: LifecycleData | undefined,
  ): Turn {
    const turn = new Turn({
      emit,
      tools,
      isStructured: responseFormat?.type === "json",
      shown: before?.shown ?? [],
      place: before?.place,
      steer: async (text) => {
        const { session } = await this.#open(undefined);
        await session.prompt(text, { streamingBehavior: "steer" });
      },
    });
    this.#seams.turn = turn;
    return turn;
  }

  /** Connects. Changed instructions or skills require a new host, which continues the conversation. */
  async #open(settings: HarnessV1TurnSettings | undefined): Promise<Connected> {
    if (settings !== undefined) {
      const words = await hostWords(settings, this.sessionId);
      const isOther = JSON.stringify(words) !== JSON.stringify(this.#seams.words);
      this.#seams.words = words;
      if (isOther && this.#connected !== undefined) {
        const data = this.#data();
        await this.#endHost();
        this.#known = { ...data, position: undefined };
      }
    }
    if (this.#connected === undefined) {
      const connected = await this.#connect(this.#known);
      this.#connected = connected;
      connected.session.onClose((error) => this.#lose(connected, error));
    }
    this.#known = this.#connected.data;
    return this.#connected;
  }

  /** The host has ended, so the turn cannot continue here. */
  #lose(connected: Connected, cause: unknown): void {
    if (this.#connected !== connected) return;
    this.#known = this.#data();
    this.#connected = undefined;
    const message = "The host of this session has ended. The next turn starts a new one.";
    this.#seams.turn?.leave(new HarnessError({ message, cause }));
    void connected.client.close();
  }

  async #settle({ model }: HarnessV1TurnSettings, turn: Turn): Promise<void> {
    const { session } = await this.#open(undefined);
    await session.setHostTools(turn.hostTools);
    if (model === undefined) return;
    const [, provider, modelId] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
    if (provider === undefined || modelId === undefined) {
      throw new HarnessError({ message: `model: expected provider/id, got ${model}` });
    }
    await session.setModel(provider, modelId);
  }

  async #modelId(): Promise<{ modelId?: string }> {
    const { model } = (await this.#connected?.session.getState()) ?? {};
    return model ? { modelId: model.id } : {};
  }

  /**
   * Only the signal of the stream that is reading the turn counts; an earlier request's signal may be aborted
   * after that request has ended.
   */
  #abortWith(signal: AbortSignal | undefined, turn: Turn): void {
    this.#signal = signal;
    const abort = (): void => {
      if (this.#signal !== signal || this.#seams.turn !== turn || turn.isOver) return;
      void this.#connected?.session.abort().catch(() => {});
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  }

  #data(): LifecycleData {
    const { session, data } = this.#connected ?? {};
    if (session === undefined || data === undefined) {
      if (this.#known !== undefined) return this.#known;
      throw new HarnessError({ message: "The session has not begun" });
    }
    const { turn } = this.#seams;
    const isOpen = turn !== undefined && !turn.isOver;
    return {
      ...data,
      promptId: this.#known?.promptId ?? data.promptId,
      // What was not shown yet is then read from the stored conversation.
      position: isOpen && turn.isBehind ? nowhere : session.position,
      shown: isOpen ? turn.shown : [],
      place: isOpen ? turn.place : undefined,
    };
  }

  async #disconnect(): Promise<void> {
    const { client } = this.#connected ?? {};
    this.#seams.turn?.leave();
    this.#seams.turn = undefined;
    this.#connected = undefined;
    await client?.close();
  }

  async #endHost(): Promise<void> {
    const { url } = this.#known ?? {};
    await this.#disconnect();
    if (url !== undefined) await endHost(url);
  }
}

/** The host arguments for instructions and skills. */
async function hostWords(
  { instructions, skills }: HarnessV1TurnSettings,
  sessionId: string,
): Promise<string[]> {
  const folders = await writeSkills(skills, sessionId);
  const own = instructions === undefined ? [] : ["--append-system-prompt", instructions];
  return [...own, ...folders.flatMap((folder) => ["--skill", folder])];
}

function schemaOf(format: HarnessV1ResponseFormat | undefined): object | undefined {
  if (format?.type !== "json") return undefined;
  if (format.schema !== undefined) return format.schema;
  const message = "A JSON reply needs a schema";
  throw new HarnessCapabilityUnsupportedError({ message, harnessId: HARNESS_ID });
}
