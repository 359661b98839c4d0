import { isDeepStrictEqual } from "node:util";
import type { AgentMessage, ImageContent } from "@tau-agent/rpc-protocol/messages";
import { encodeLine, isJsonObject, toPlainValue } from "@tau-agent/rpc-protocol/plain";
import { normalizeMessage } from "@tau-agent/sessions/log";
import type { RequestContext } from "../../run/session-hooks.ts";
import type { SystemPromptOptions } from "../api/context.ts";
import { ExtensionError, reasonOf } from "../api/errors.ts";
import type {
  BashOperations,
  CustomMessageInput,
  SystemMessage,
  UserBashOutput,
} from "../api/events.ts";
import { type ExtensionRunner, STOP } from "./runner.ts";

export interface UserText {
  readonly text: string;
  readonly images?: readonly ImageContent[] | undefined;
}

export interface InputOrigin {
  readonly source: "interactive" | "rpc" | "extension";
  readonly streamingBehavior?: "steer" | "followUp" | undefined;
}

/** Lets extensions change or handle an input; undefined if an extension handled it. */
export async function askInput(
  runner: ExtensionRunner,
  input: UserText,
  origin: InputOrigin,
): Promise<UserText | undefined> {
  let current: UserText | undefined = input;
  await runner.each("input", () => ({ type: "input", ...(current ?? input), ...origin }), {
    take: (result) => {
      const { action, text, images = current?.images } = actionOf(result);
      if (action === "handled") {
        current = undefined;
        return STOP;
      }
      if (action === "transform" && typeof text === "string") {
        current = { text, ...(images === undefined ? {} : { images }) };
      }
      return undefined;
    },
  });
  return current;
}

interface InputAnswer {
  readonly action?: string;
  readonly text?: string;
  readonly images?: readonly ImageContent[];
}

/** Some pi-compatible hosts omit the action; then `text` or `handled` decides. */
function actionOf(given: object): InputAnswer {
  const answer = given as InputAnswer & { readonly handled?: unknown };
  if (answer.action !== undefined) return answer;
  if (answer.handled === true) return { action: "handled" };
  return answer.text === undefined ? {} : { ...answer, action: "transform" };
}

export interface BeforeStart {
  readonly systemPrompt: string;
  readonly messages: readonly CustomMessageInput[];
}

export interface PromptParts {
  readonly systemPrompt: string;
  readonly options: SystemPromptOptions;
  readonly render: (options: SystemPromptOptions) => string;
}

/** Lets extensions add messages and change the system prompt of a run, one after another. */
export async function askBeforeStart(
  runner: ExtensionRunner,
  prompt: UserText & { readonly messageType: "user" | "custom" },
  base: PromptParts,
): Promise<BeforeStart> {
  let { systemPrompt } = base;
  const { options } = base;
  let known = encodeLine(options);
  let isReplaced = false;
  /** Changes to the parts also change the whole prompt, unless a handler has replaced it. */
  const rendered = (): string => {
    const now = encodeLine(options);
    if (now !== known && !isReplaced) systemPrompt = base.render(options);
    known = now;
    return systemPrompt;
  };
  const messages: CustomMessageInput[] = [];
  await runner.each(
    "before_agent_start",
    () => ({
      type: "before_agent_start",
      prompt: prompt.text,
      ...(prompt.images === undefined ? {} : { images: prompt.images }),
      systemPrompt: rendered(),
      systemPromptOptions: options,
      messageType: prompt.messageType,
    }),
    {
      take: (result) => {
        const given: unknown = result.systemPrompt;
        isReplaced ||= given !== undefined;
        if (typeof given === "string") systemPrompt = given;
        // Some pi-compatible hosts use a list of pieces.
        else if (Array.isArray(given)) systemPrompt = given.join("\n\n");
        if (isJsonObject(result.message)) messages.push(result.message);
        return undefined;
      },
    },
  );
  return { systemPrompt: rendered(), messages };
}

/** Lets extensions change the messages of one model call; returns the same object if unchanged. */
export async function askContext(
  runner: ExtensionRunner,
  context: RequestContext,
): Promise<RequestContext> {
  const messages = await askMessages(runner, context.messages);
  if (runner.has("context_with_system")) return askWithSystem(runner, { ...context, messages });
  return messages === context.messages ? context : { ...context, messages };
}

async function askMessages(
  runner: ExtensionRunner,
  messages: readonly AgentMessage[],
): Promise<readonly AgentMessage[]> {
  if (!runner.has("context")) return messages;
  const copies = new MessageCopies(messages);
  let current: readonly AgentMessage[] = copies.all;
  await runner.each("context", () => ({ type: "context", messages: [...current] }), {
    take: (result) => {
      if (Array.isArray(result.messages)) current = result.messages;
      return undefined;
    },
  });
  return usableMessages(current, copies);
}

/** The handlers' messages are sent as they are: without a system message there is no system prompt. */
async function askWithSystem(
  runner: ExtensionRunner,
  { messages, systemPrompt }: RequestContext,
): Promise<RequestContext> {
  const head: SystemMessage = { role: "system", content: systemPrompt, timestamp: Date.now() };
  const copies = new MessageCopies(messages);
  let current: readonly (AgentMessage | SystemMessage)[] = [head, ...copies.all];
  const event = () => ({ type: "context_with_system" as const, messages: [...current] });
  await runner.each("context_with_system", event, {
    take: (result) => {
      if (Array.isArray(result.messages)) current = result.messages;
      return undefined;
    },
  });
  const isSystem = (message: AgentMessage | SystemMessage) => message.role === "system";
  const usable = usableMessages(current, copies);
  const system = usable.filter((message): message is SystemMessage => isSystem(message));
  return {
    systemPrompt: system.map(({ content }) => textOf(content)).join("\n\n"),
    messages: usable.filter((message): message is AgentMessage => !isSystem(message)),
  };
}

/** A malformed message would fail every request of the run. */
function usableMessages<Message extends { readonly role: string }>(
  given: readonly Message[],
  copies: MessageCopies,
): Message[] {
  return given
    .filter((message: unknown) => isJsonObject(message) && typeof message.role === "string")
    .map((message) => copies.settle(message as unknown as AgentMessage) as unknown as Message);
}

/** Handlers get copies, so that they cannot change the conversation. */
class MessageCopies {
  readonly all: readonly AgentMessage[];
  readonly #originals = new Map<AgentMessage, AgentMessage>();

  constructor(messages: readonly AgentMessage[]) {
    this.all = structuredClone(messages);
    for (const [at, copy] of this.all.entries()) {
      const original = messages[at];
      if (original !== undefined) this.#originals.set(copy, original);
    }
  }

  /** A message to send: the original if its copy is unchanged, so that requests can recognise it. */
  settle(given: AgentMessage): AgentMessage {
    const original = this.#originals.get(given);
    const isUnchanged = original !== undefined && isDeepStrictEqual(given, original);
    // Copied, because a handler may return the same object each time and change it in between, but
    // requests recognise objects.
    return isUnchanged ? original : normalizeMessage({ ...given });
  }
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.map((block: unknown) => (isJsonObject(block) ? block.text : "")).join("\n");
}

export async function askProviderRequest(
  runner: ExtensionRunner,
  payload: unknown,
): Promise<unknown> {
  let current = payload;
  await runner.each(
    "before_provider_request",
    () => ({ type: "before_provider_request", payload: current }),
    {
      take: (result) => {
        current = result;
        return undefined;
      },
    },
  );
  return current;
}

export async function askProviderHeaders(
  runner: ExtensionRunner,
  headers: Readonly<Record<string, string | null>>,
): Promise<Record<string, string | null>> {
  const current = { ...headers };
  const event = { type: "before_provider_headers", headers: current } as const;
  await runner.each("before_provider_headers", () => event);
  return current;
}

/** Lets extensions replace a completed message; the role stays the same. */
export async function askMessageEnd(
  runner: ExtensionRunner,
  message: AgentMessage,
): Promise<AgentMessage> {
  let current = message;
  await runner.each("message_end", () => ({ type: "message_end", message: current }), {
    take: (result) => {
      if (result.message?.role === current.role) {
        current = normalizeMessage(toPlainValue(result.message));
      }
      return undefined;
    },
  });
  return current;
}

export type UserBashDecision =
  | { readonly operations: BashOperations }
  | { readonly result: UserBashOutput };

/**
 * Lets extensions run a client's command elsewhere or answer it themselves; the first decision counts.
 *
 * @throws {ExtensionError} `handler_failed` if a handler fails or its answer is invalid: the command must not run then
 */
export async function askUserBash(
  runner: ExtensionRunner,
  command: { readonly command: string; readonly excludeFromContext: boolean; readonly cwd: string },
): Promise<UserBashDecision | undefined> {
  let decision: UserBashDecision | undefined;
  let failure: ExtensionError | undefined;
  await runner.each("user_bash", () => ({ type: "user_bash", ...command }), {
    take: ({ operations, result }) => {
      if (typeof operations?.exec === "function") decision = { operations };
      else if (typeof result?.output === "string") decision = { result };
      else if (operations !== undefined || result !== undefined) {
        const text = "An extension answered user_bash with neither operations nor a result";
        failure = new ExtensionError("handler_failed", text);
      } else return undefined;
      return STOP;
    },
    fail: (extension, error) => {
      const text = `Not run: the extension ${extension.path} failed: ${reasonOf(error)}`;
      failure = new ExtensionError("handler_failed", text, { cause: error });
      return STOP;
    },
  });
  if (failure !== undefined) throw failure;
  return decision;
}
