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
import type { Context, ImageLimits, Provider, ToolDefinition } from "../provider.ts";
import { DocumentBudget, type DocumentText, documentOf } from "./documents.ts";
import { withResultsInPlace } from "./late-results.ts";
import { limitImages } from "./limit-images.ts";
import { Memo } from "./memo.ts";
import { isSanitized, sanitizeJson, sanitizeText } from "./sanitize.ts";
import { wireName } from "./tool-name.ts";
import { toolRules } from "./tool-rules.ts";

const imagePlaceholder = "(image left out: this model reads text only)";
const missingResult = "No result provided";

/** The dependencies of the transform on the wire format and on earlier requests. */
export interface HistoryOptions {
  readonly normalizeToolCallId?: Provider["normalizeToolCallId"];
  /** The image limits of a request; by default, none. */
  readonly imageLimits?: ImageLimits | undefined;
}

/**
 * Adapts a conversation to the model that reads it next:
 *
 * - Failed and aborted replies are dropped with their calls and results, and so are the calls of truncated
 *   replies.
 * - Every remaining call is followed by exactly one result.
 * - Call ids are unique and acceptable to the vendor; names are those under which the tools are sent.
 * - Data that only another model understands (signatures, thinking) is dropped.
 * - Files become their text if the endpoint does not accept files.
 * - Images become a note for models that read only text; if there are too many, the oldest are dropped.
 * - Lone surrogates are removed.
 *
 * Until images have to be dropped, the result for a prefix of the messages is a prefix of the result, so that
 * prompt caches hit.
 */
export function prepareContext(
  model: Model,
  context: Context,
  options: HistoryOptions = {},
): Context {
  const tools = context.tools?.map((tool) => {
    const description = sanitizeText(tool.description);
    return description === tool.description ? tool : { ...tool, description };
  });
  return fitContext(model, { ...context, ...(tools && { tools }) }, options, new Memo());
}

/**
 * {@link prepareContext} for fitted tools, which adapts only new messages when called again with the same `memo`.
 */
export function fitContext(
  model: Model,
  context: Context,
  options: HistoryOptions,
  memo: Memo,
): Context {
  const { systemPrompt, tools } = context;
  return {
    messages: transformHistory(model, context, options, memo),
    ...(systemPrompt !== undefined && { systemPrompt: sanitizeText(systemPrompt) }),
    ...(tools !== undefined && { tools }),
  };
}

function transformHistory(
  model: Model,
  { messages, tools = [] }: Context,
  { normalizeToolCallId = (id) => id, imageLimits }: HistoryOptions,
  memo: Memo,
): LlmMessage[] {
  const readsImages = model.input.includes("image");
  const names = toolRules(model.api);
  const asMade = callsAsMade(tools);
  const { pairing, replaced } = memo.fold(withResultsInPlace(messages), {
    rules: [model.provider, model.api, model.id, readsImages, asMade?.declared],
    start: () => ({
      pairing: new Pairing(),
      ids: new UniqueIds(),
      documents: new DocumentBudget(model),
      replaced: new WeakMap<LlmMessage, LlmMessage>(),
    }),
    step({ pairing, ids, documents }, message) {
      if (message.role === "toolResult") {
        pairing.answer(message, (content) => fitContent(content, readsImages, documents));
        return;
      }
      pairing.settle();
      if (message.role === "user") {
        const content =
          typeof message.content === "string"
            ? sanitizeText(message.content)
            : fitContent(message.content, readsImages, documents);
        if (content.length > 0) pairing.add(withContent(message, content));
        return;
      }
      if (message.stopReason === "error" || message.stopReason === "aborted") return;
      const isSame =
        message.provider === model.provider &&
        message.api === model.api &&
        message.model === model.id;
      // The calls of a truncated reply were not run, and the last of them may be incomplete.
      const isCut = message.stopReason === "length";
      const fits = !isCut && message.content.every((block) => isFit(block, isSame));
      const content = fits
        ? message.content
        : message.content
            .filter((block) => !isCut || block.type !== "toolCall")
            .flatMap((block) => fitBlock(block, isSame));
      pairing.ask(message, content, (call) => ({
        id: ids.claim(normalizeToolCallId(call.id, call, message)),
        ...(asMade?.of(call, wireName(call.name, names)) ?? { name: wireName(call.name, names) }),
      }));
    },
  });
  const settled = pairing.settled();
  return imageLimits === undefined || !readsImages
    ? settled
    : limitImages(settled, imageLimits, replaced);
}

/** Converts calls of undeclared tools back to calls of the tool that makes them by name, if there is one. */
function callsAsMade(tools: readonly ToolDefinition[]) {
  const caller = tools.find(({ callsByName }) => callsByName);
  if (caller === undefined) return undefined;
  const declared = tools.map(({ name }) => name);
  return {
    declared,
    of: ({ name, arguments: args }: ToolCall, sentName: string) =>
      declared.includes(sentName)
        ? undefined
        : { name: caller.name, arguments: { name, arguments: args } },
  };
}

/** Writes messages and tracks the calls that still wait for a result. */
class Pairing {
  readonly #messages: LlmMessage[] = [];
  #waiting: { originalId: string; call: ToolCall }[] = [];
  #timestamp = 0;

  add(message: LlmMessage): void {
    this.#messages.push(message);
  }

  ask(
    message: AssistantMessage,
    content: AssistantContent[],
    rename: (call: ToolCall) => Pick<ToolCall, "id" | "name"> & Partial<ToolCall>,
  ): void {
    if (content.length === 0) return;
    this.#timestamp = message.timestamp;
    if (!content.some(({ type }) => type === "toolCall")) {
      this.#messages.push(withContent(message, content));
      return;
    }
    const renamed = content.map((block) => {
      if (block.type !== "toolCall") return block;
      const call = { ...block, ...rename(block) };
      this.#waiting.push({ originalId: block.id, call });
      return call;
    });
    this.#messages.push({ ...message, content: renamed });
  }

  /** A result without a waiting call is an orphan or a duplicate and is dropped. */
  answer(result: ToolResultMessage, adapt: (content: UserContent[]) => UserContent[]): void {
    const index = this.#waiting.findIndex(({ originalId }) => originalId === result.toolCallId);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiting === undefined) return;
    const { id: toolCallId, name: toolName } = waiting.call;
    this.#messages.push({ ...result, toolCallId, toolName, content: adapt(result.content) });
  }

  /** No more results follow: adds results for open calls, e.g. because the process was killed. */
  settle(): void {
    if (this.#waiting.length === 0) return;
    this.#messages.push(...this.#missing());
    this.#waiting = [];
  }

  /** All messages, assuming that no more follow; more may still be added. */
  settled(): LlmMessage[] {
    return [...this.#messages, ...this.#missing()];
  }

  #missing(): ToolResultMessage[] {
    return this.#waiting.map(({ call }) => ({
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: [{ type: "text", text: missingResult }],
      isError: true,
      timestamp: this.#timestamp,
    }));
  }
}

/**
 * Makes ids unique, because some servers restart their ids with every reply. Each half of an OpenAI id
 * (`call|item`) is sent separately, so each must be unique; a repeated item id is dropped.
 */
class UniqueIds {
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  claim(id: string): string {
    const at = id.indexOf("|");
    const call = at < 0 ? id : id.slice(0, at);
    const item = at < 0 ? "" : id.slice(at);
    let unique = call;
    while (this.#taken.has(unique)) {
      const count = (this.#counts.get(call) ?? 1) + 1;
      this.#counts.set(call, count);
      // 40 is the shortest known limit.
      unique = `${call.slice(0, 32)}_${count}`;
    }
    this.#taken.add(unique);
    if (item === "" || this.#taken.has(item)) return unique;
    this.#taken.add(item);
    return `${unique}${item}`;
  }
}

/**
 * Returns the same message if the content is unchanged, to avoid copying a long conversation (row "100 000
 * entries: first request").
 */
function withContent<Message extends UserMessage | AssistantMessage>(
  message: Message,
  content: Message["content"],
): Message {
  return content === message.content ? message : { ...message, content };
}

/** Whether {@link fitBlock} would return the block unchanged. */
function isFit(block: AssistantContent, isSame: boolean): boolean {
  if (block.type === "text") {
    const hasContent = block.textSignature === undefined ? block.text !== "" : isSame;
    return hasContent && isSanitized(block.text);
  }
  if (block.type === "toolCall" || !isSame) return false;
  const isEmpty = block.thinking === "" && !block.thinkingSignature;
  return !isEmpty && isSanitized(block.thinking);
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

function fitContent(
  content: UserContent[],
  readsImages: boolean,
  documents: DocumentBudget,
): UserContent[] {
  const fits = content.every((block) =>
    block.type === "text" ? isFit(block, false) && !documentOf(block) : readsImages,
  );
  if (fits) return content;
  const fitted: UserContent[] = [];
  let isPlaceholder = false;
  for (const block of content) {
    if (block.type === "text") {
      const text = sanitizeText(block.text);
      const document = documentOf(block);
      const sent: DocumentText | undefined =
        document && documents.takes(document) ? { type: "text", text, document } : undefined;
      if (sent !== undefined || text !== "") fitted.push(sent ?? { type: "text", text });
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
