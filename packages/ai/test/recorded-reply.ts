/** Reads recorded streams in the simplest possible way, to compare the package's own reading with. */

/** The contents of a reply. */
export interface Reading {
  text: string;
  thinking: string;
  /** Undefined if the vendor gives the call no id. */
  calls: { id: string | undefined; name: string; arguments: unknown }[];
  input: number;
  output: number;
  stop: "stop" | "length" | "toolUse" | "error";
}

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON, read without a schema
type Json = any;

/** How to split the streams of a wire format into replies, and how to read them. */
export interface Wire {
  readonly api: string;
  /** Whether a chunk begins another reply, given the chunks of the reply so far. */
  begins(chunk: Json, before: readonly Json[]): boolean;
  read(chunks: readonly Json[]): Reading;
}

const empty = (): Reading => ({
  text: "",
  thinking: "",
  calls: [],
  input: 0,
  output: 0,
  stop: "error",
});

/** A reply without text and calls is empty; one with calls is a tool use. */
function settled(reading: Reading): Reading {
  if (reading.stop !== "stop" && reading.stop !== "toolUse") return reading;
  if (reading.calls.length > 0) return { ...reading, stop: "toolUse" };
  return { ...reading, stop: reading.text.trim() === "" ? "error" : "stop" };
}

function readAnthropic(chunks: readonly Json[]): Reading {
  let reading = empty();
  let blocks: Json[] = [];
  for (const chunk of chunks) {
    if (chunk.type === "message_start") {
      reading = empty();
      blocks = [];
      reading.input = sumAnthropic(chunk.message.usage);
    }
    if (chunk.type === "content_block_start") {
      blocks[chunk.index] = { ...chunk.content_block, json: "" };
    }
    if (chunk.type === "content_block_delta") {
      const block = blocks[chunk.index];
      const { text = "", thinking = "", partial_json = "" } = chunk.delta;
      if (block.type === "text") block.text += text;
      if (block.type === "thinking") block.thinking += thinking;
      block.json += partial_json;
    }
    if (chunk.type === "message_delta") {
      const { stop_reason } = chunk.delta;
      reading.stop = { max_tokens: "length", refusal: "error" }[stop_reason as string] as never;
      reading.stop ??= "stop";
      reading.output = chunk.usage.output_tokens;
      reading.input = sumAnthropic(chunk.usage) || reading.input;
    }
  }
  for (const block of blocks) {
    if (block?.type === "text") reading.text += block.text;
    if (block?.type === "thinking") reading.thinking += block.thinking;
    if (block?.type !== "tool_use") continue;
    const json = block.json === "" ? block.input : JSON.parse(block.json);
    reading.calls.push({ id: block.id, name: block.name, arguments: json });
  }
  return settled(reading);
}

function sumAnthropic(usage: Json): number {
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
  return (input_tokens ?? 0) + (cache_read_input_tokens ?? 0) + (cache_creation_input_tokens ?? 0);
}

function readCompletions(chunks: readonly Json[]): Reading {
  const reading = empty();
  const calls: { id: string; name: string; json: string }[] = [];
  for (const chunk of chunks) {
    const [choice] = chunk.choices ?? [];
    const { content, reasoning_content, reasoning, tool_calls } = choice?.delta ?? {};
    reading.thinking += reasoning_content || reasoning || "";
    if (typeof content === "string") reading.text += content;
    for (const part of Array.isArray(content) ? content : []) {
      reading.text += part.type === "text" ? part.text : "";
      for (const thought of part.thinking ?? []) reading.thinking += thought.text;
    }
    for (const { index, id, function: given } of tool_calls ?? []) {
      calls[index] ??= { id, name: given.name, json: "" };
      calls[index].json += given.arguments ?? "";
    }
    if (choice?.finish_reason) {
      reading.stop = choice.finish_reason === "length" ? "length" : "stop";
    }
    const usage = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage;
    if (!usage) continue;
    reading.input = usage.prompt_tokens;
    const reasoned = usage.completion_tokens_details?.reasoning_tokens ?? 0;
    const isBeside =
      usage.prompt_tokens + usage.completion_tokens + reasoned === usage.total_tokens;
    reading.output = usage.completion_tokens + (isBeside ? reasoned : 0);
  }
  reading.calls = calls.map(({ json, ...call }) => ({
    ...call,
    arguments: JSON.parse(json || "{}"),
  }));
  return settled(reading);
}

function readResponses(chunks: readonly Json[]): Reading {
  const reading = empty();
  let streamed = "";
  for (const { type, item, delta } of chunks) {
    if (type === "response.output_text.delta") streamed += delta;
    if (type !== "response.output_item.done") continue;
    if (item.type === "message") {
      // Some recordings were shortened, in their pieces or in their complete texts.
      const whole = item.content.map((part: Json) => part.text).join("");
      reading.text += whole.startsWith(streamed) ? whole : streamed;
      streamed = "";
    }
    if (item.type === "reasoning") {
      const parts = item.summary.length > 0 ? item.summary : (item.content ?? []);
      reading.thinking += parts.map((part: Json) => part.text).join("\n\n");
    }
    if (item.type === "function_call") {
      const { name, call_id, id } = item;
      const json = JSON.parse(item.arguments || "{}");
      reading.calls.push({ id: `${call_id}|${id}`, name, arguments: json });
    }
  }
  const { type, response } = chunks.at(-1);
  if (type === "response.completed") reading.stop = "stop";
  if (type === "response.incomplete") reading.stop = "length";
  reading.input = response?.usage?.input_tokens ?? 0;
  reading.output = response?.usage?.output_tokens ?? 0;
  return settled(reading);
}

function readGoogle(chunks: readonly Json[]): Reading {
  const reading = empty();
  for (const { candidates: [candidate] = [], usageMetadata: usage } of chunks as Json[]) {
    for (const part of candidate?.content?.parts ?? []) {
      if (part.thought) reading.thinking += part.text ?? "";
      else reading.text += part.text ?? "";
      if (!part.functionCall) continue;
      const { id, name, args, partialArgs } = part.functionCall;
      if (name) reading.calls.push({ id, name, arguments: args ?? {} });
      for (const piece of partialArgs ?? []) setAtPath(reading.calls.at(-1)?.arguments, piece);
    }
    if (candidate?.finishReason) {
      reading.stop = candidate.finishReason === "STOP" ? "stop" : "error";
    }
    if (!usage) continue;
    reading.input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
    reading.output = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0);
  }
  return settled(reading);
}

/** Supports only the recorded paths: names with dots and indices in brackets. */
function setAtPath(root: Json, { jsonPath, stringValue }: Json): void {
  const path = jsonPath.replaceAll("[", ".").replaceAll("]", "").split(".").slice(1);
  let at = root;
  for (const [index, name] of path.entries()) {
    if (index === path.length - 1) at[name] = (at[name] ?? "") + stringValue;
    else at = at[name] ??= /^\d+$/.test(path[index + 1]) ? [] : {};
  }
}

/** The wire formats by the folder of their recordings. */
export const wires: Readonly<Record<string, Wire>> = {
  anthropic: {
    api: "anthropic-messages",
    begins: (chunk, before) =>
      chunk.type === "message_start" && before.some(({ type }) => type === "message_stop"),
    read: readAnthropic,
  },
  completions: {
    api: "openai-completions",
    begins: () => false,
    read: readCompletions,
  },
  responses: {
    api: "openai-responses",
    begins: (chunk, before) => chunk.type === "response.created" && before.length > 0,
    read: readResponses,
  },
  google: {
    api: "google-generative-ai",
    begins: (_, before) => before.some(({ candidates }) => candidates?.[0]?.finishReason),
    read: readGoogle,
  },
};
