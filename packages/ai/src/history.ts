import type {
  AssistantContent,
  AssistantMessage,
  LlmMessage,
  Model,
  ToolCall,
  ToolResultMessage,
  UserContent,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { Memo, Variants } from "./memo.ts";
import type { Context, Provider } from "./provider.ts";
import { sanitizeJson, sanitizeText } from "./sanitize.ts";

const imagePlaceholder = "(image left out: this model reads text only)";
const missingResult = "No result provided";

/** What the fitting of a conversation takes from the wire format and from earlier requests. */
export interface HistoryOptions {
  readonly normalizeToolCallId?: Provider["normalizeToolCallId"];
  /** Given again with the next request, only what is new is fitted. */
  readonly memo?: Memo | undefined;
}

/**
 * Fits a conversation to the model that reads it next. Failed and aborted replies go together with
 * their calls and results; every remaining call has exactly one result; call ids are acceptable to
 * the vendor and unique; what only another model understands (signatures, thinking) is dropped;
 * images become a note for models that read text only; lone surrogates are removed. The result for
 * a prefix of the messages is a prefix of the result, so that prompt caches hit.
 */
export function prepareContext(
  model: Model,
  context: Context,
  options: HistoryOptions = {},
): Context {
  const { systemPrompt, messages, tools } = context;
  return {
    messages: transformHistory(model, messages, options),
    ...(systemPrompt !== undefined && { systemPrompt: sanitizeText(systemPrompt) }),
    ...(tools !== undefined && {
      tools: tools.map((tool) => ({ ...tool, description: sanitizeText(tool.description) })),
    }),
  };
}

function transformHistory(
  model: Model,
  messages: readonly LlmMessage[],
  { normalizeToolCallId = (id) => id, memo = new Memo() }: HistoryOptions,
): LlmMessage[] {
  const pairing = new Pairing();
  const ids = new UniqueIds();
  const readsImages = model.input.includes("image");
  const rules = [model.provider, model.api, model.id, readsImages];
  const recall = memo.under<Fitted>(rules);
  for (const message of messages) {
    if (message.role === "assistant") {
      pairing.settle();
      if (message.stopReason === "error" || message.stopReason === "aborted") continue;
      const reply = recall(message, () => fitReply(message, model, normalizeToolCallId));
      if (reply.role !== "assistant" || reply.content.length === 0) continue;
      pairing.ask(
        message,
        reply,
        reply.wantedIds.map((id) => ids.claim(id)),
      );
    } else if (message.role === "user") {
      pairing.settle();
      const user = recall(message, () => fitUser(message, readsImages));
      if (user.role === "user" && user.content.length > 0) pairing.messages.push(user);
    } else {
      const result = recall(message, () => fitResult(message, readsImages));
      if (result.role === "toolResult") pairing.answer(message, result);
    }
  }
  pairing.settle();
  return pairing.messages;
}

/** What became of a message, apart from the ids that depend on the messages before it. */
type Fitted = UserMessage | FittedReply | FittedResult;

interface FittedReply {
  readonly role: "assistant";
  readonly content: readonly AssistantContent[];
  /** Of each call, in the vendor's alphabet. */
  readonly wantedIds: readonly string[];
  readonly variants: Variants<AskedReply>;
}

interface AskedReply {
  readonly message: AssistantMessage;
  readonly asked: readonly Waiting[];
}

interface FittedResult {
  readonly role: "toolResult";
  readonly content: UserContent[];
  readonly variants: Variants<ToolResultMessage>;
}

interface Waiting {
  readonly originalId: string;
  readonly call: ToolCall;
}

function fitUser(message: UserMessage, readsImages: boolean): UserMessage {
  const { content } = message;
  const fitted =
    typeof content === "string" ? sanitizeText(content) : fitContent(content, readsImages);
  return { ...message, content: fitted };
}

function fitReply(
  message: AssistantMessage,
  model: Model,
  normalizeToolCallId: NonNullable<Provider["normalizeToolCallId"]>,
): FittedReply {
  const isSame =
    message.provider === model.provider && message.api === model.api && message.model === model.id;
  const content = message.content.flatMap((block) => fitBlock(block, isSame));
  const wantedIds = content.flatMap((block) =>
    block.type === "toolCall" ? [normalizeToolCallId(block.id, block, message)] : [],
  );
  return { role: "assistant", content, wantedIds, variants: new Variants() };
}

function fitResult(message: ToolResultMessage, readsImages: boolean): FittedResult {
  const content = fitContent(message.content, readsImages);
  return { role: "toolResult", content, variants: new Variants() };
}

/** Writes messages and keeps account of the calls that still wait for their result. */
class Pairing {
  readonly messages: LlmMessage[] = [];
  #waiting: Waiting[] = [];
  #timestamp = 0;

  /** Gives each call of a reply its id, in their order. */
  ask(message: AssistantMessage, reply: FittedReply, ids: readonly string[]): void {
    const { message: renamed, asked } = reply.variants.get(JSON.stringify(ids), () => {
      const left = ids.values();
      const asked: Waiting[] = [];
      const content = reply.content.map((block) => {
        if (block.type !== "toolCall") return block;
        const call = { ...block, id: left.next().value ?? block.id };
        asked.push({ originalId: block.id, call });
        return call;
      });
      return { message: { ...message, content }, asked };
    });
    this.#timestamp = message.timestamp;
    this.#waiting.push(...asked);
    this.messages.push(renamed);
  }

  /** A result that answers no waiting call is an orphan or a repetition and goes. */
  answer(result: ToolResultMessage, { content, variants }: FittedResult): void {
    const index = this.#waiting.findIndex(({ originalId }) => originalId === result.toolCallId);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiting === undefined) return;
    const { id: toolCallId, name: toolName } = waiting.call;
    const renamed = variants.get(JSON.stringify([toolCallId, toolName]), () => {
      return { ...result, toolCallId, toolName, content };
    });
    this.messages.push(renamed);
  }

  /** Answers what nobody answered, e.g. because the process was killed. */
  settle(): void {
    for (const { call } of this.#waiting) {
      this.messages.push({
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content: [{ type: "text", text: missingResult }],
        isError: true,
        timestamp: this.#timestamp,
      });
    }
    this.#waiting = [];
  }
}

/** Some servers count their ids anew in every reply. */
class UniqueIds {
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  claim(id: string): string {
    let unique = id;
    // The item part of an OpenAI id (`call|item`) stays as it is; 40 is the shortest limit known.
    const [call = "", ...rest] = id.split("|");
    while (this.#taken.has(unique)) {
      const count = (this.#counts.get(id) ?? 1) + 1;
      this.#counts.set(id, count);
      unique = [`${call.slice(0, 32)}_${count}`, ...rest].join("|");
    }
    this.#taken.add(unique);
    return unique;
  }
}

function fitBlock(block: AssistantContent, isSame: boolean): AssistantContent[] {
  switch (block.type) {
    case "text": {
      const text = sanitizeText(block.text);
      if (isSame && block.textSignature !== undefined) return [{ ...block, text }];
      return text === "" ? [] : [{ type: "text", text }];
    }
    case "thinking": {
      const isEmpty = block.thinking === "" && !block.thinkingSignature;
      return isSame && !isEmpty ? [{ ...block, thinking: sanitizeText(block.thinking) }] : [];
    }
    case "toolCall": {
      const { id, name, thoughtSignature } = block;
      const args = Object.fromEntries(
        Object.entries(block.arguments).map(([key, value]) => [key, sanitizeJson(value)]),
      );
      const call: ToolCall = { type: "toolCall", id, name, arguments: args };
      return [isSame && thoughtSignature !== undefined ? { ...call, thoughtSignature } : call];
    }
  }
}

function fitContent(content: readonly UserContent[], readsImages: boolean): UserContent[] {
  const fitted: UserContent[] = [];
  let isPlaceholder = false;
  for (const block of content) {
    if (block.type === "text") {
      const text = sanitizeText(block.text);
      if (text !== "") fitted.push({ type: "text", text });
      isPlaceholder = false;
    } else if (readsImages) {
      fitted.push(block);
    } else if (!isPlaceholder) {
      fitted.push({ type: "text", text: imagePlaceholder });
      isPlaceholder = true;
    }
  }
  return fitted;
}
