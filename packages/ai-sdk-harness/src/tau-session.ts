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
import { continueState, HARNESS_ID, type LifecycleData, resumeState } from "./lifecycle-state.ts";
import { readPrompt } from "./read-prompt.ts";
import type { Connected, SessionSeams } from "./session-seams.ts";
import { Turn } from "./turn.ts";
import { writeSkills } from "./write-skills.ts";

type Connect = (known: LifecycleData | undefined) => Promise<Connected>;

/** A session of the harness. It connects with its first turn, which says what the host needs to know. */
export class TauSession implements HarnessV1Session {
  readonly sessionId: string;
  readonly isResume: boolean;
  readonly #seams: SessionSeams;
  readonly #connect: Connect;
  #known: LifecycleData | undefined;
  #connected: Connected | undefined;

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
    const turn = this.#beginTurn(options, []);
    const { session } = await this.#open(options);
    await this.#settle(options, turn);
    const { message, images } = readPrompt(options.prompt);
    const promptId = crypto.randomUUID();
    this.#known = { ...this.#data(), promptId, shown: [] };
    const outputSchema = schemaOf(options.responseFormat);
    options.emit({ type: "stream-start", ...(await this.#modelId()) });
    await session.prompt(message, {
      promptId,
      ...(images.length > 0 && { images }),
      ...(outputSchema && { outputSchema }),
    });
    this.#abortWith(options.abortSignal);
    return turn;
  }

  async doContinueTurn(options: HarnessV1ContinueTurnOptions): Promise<HarnessV1PromptControl> {
    const { emit } = options;
    emit({ type: "stream-start" });
    const running = this.#seams.turn;
    if (this.#connected !== undefined && running !== undefined && !running.isOver) {
      running.renew({ emit });
      this.#abortWith(options.abortSignal);
      return running;
    }
    const turn = this.#beginTurn(options, this.#known?.shown ?? []);
    const { session, isSameHost, data } = await this.#open(options);
    await session.setHostTools(turn.hostTools);
    // The host that had the turn is gone: the next one goes on where its conversation ends.
    if (!isSameHost) {
      const { promptId } = data;
      if (promptId === undefined) {
        throw new HarnessError({ message: "The state names no turn that could be continued" });
      }
      await session.prompt("", { promptId, resume: true });
    }
    this.#abortWith(options.abortSignal);
    return turn;
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
    await this.#open(undefined);
    const state = resumeState(this.#data());
    await this.#disconnect();
    return state;
  }

  async doStop(): Promise<HarnessV1ResumeSessionState> {
    await this.#open(undefined);
    const data = this.#data();
    await this.#endHost();
    return resumeState({ ...data, position: undefined });
  }

  async doDestroy(): Promise<void> {
    if (this.#connected !== undefined || this.#known !== undefined) {
      await this.#open(undefined);
      await this.#endHost();
    }
  }

  #beginTurn(
    { emit, tools, responseFormat }: HarnessV1ContinueTurnOptions,
    shown: readonly string[],
  ): Turn {
    const turn = new Turn({
      emit,
      tools,
      isStructured: responseFormat?.type === "json",
      shown,
      steer: async (text) => {
        const { session } = await this.#open(undefined);
        await session.prompt(text, { streamingBehavior: "steer" });
      },
    });
    this.#seams.turn = turn;
    return turn;
  }

  /** Connects; other instructions or skills need another host, which goes on with the conversation. */
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
    this.#connected ??= await this.#connect(this.#known);
    this.#known = this.#connected.data;
    return this.#connected;
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

  #abortWith(signal: AbortSignal | undefined): void {
    const abort = (): void => void this.#connected?.session.abort().catch(() => {});
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  }

  #data(): LifecycleData {
    const { session, data } = this.#connected ?? {};
    if (session === undefined || data === undefined) {
      throw new HarnessError({ message: "The session has not begun" });
    }
    const { turn } = this.#seams;
    const isOpen = turn !== undefined && !turn.isOver;
    return {
      ...data,
      promptId: this.#known?.promptId ?? data.promptId,
      position: session.position,
      shown: isOpen ? turn.shown : [],
    };
  }

  async #disconnect(): Promise<void> {
    this.#seams.turn?.leave();
    this.#seams.turn = undefined;
    await this.#connected?.client.close();
    this.#connected = undefined;
  }

  async #endHost(): Promise<void> {
    const { client } = this.#connected ?? {};
    await client?.request("drain", {}).catch(() => {});
    await this.#disconnect();
  }
}

/** The arguments of a host for instructions and skills. */
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
