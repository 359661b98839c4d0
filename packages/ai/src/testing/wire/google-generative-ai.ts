import type { AssistantContent, UserContent } from "@tau-agent/rpc-protocol/messages";
import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { Conversation, textBlock, textsOf, toolOf } from "./conversation.ts";
import { listOf, objectOf, parseArguments, serverSentEvent, textOf } from "./json.ts";
import type { ReplyHead, ReplyWriter, WireFormat } from "./wire-format.ts";

/** The server side of Google's generateContent format. */
export const googleGenerativeAiWire: WireFormat = {
  api: "google-generative-ai",
  parse(body, path) {
    const request = objectOf(body);
    const model = decodeURIComponent(/models\/([^:?]+)/.exec(path)?.[1] ?? "");
    const conversation = new Conversation("google-generative-ai", model);
    const callIds = new CallIds();
    for (const content of listOf(request.contents)) {
      const parts = listOf(content.parts);
      if (content.role === "model") {
        conversation.addAssistant(parts.flatMap((part) => assistantPart(part, callIds)));
      } else addUserParts(conversation, parts, callIds);
    }
    return {
      model,
      messages: conversation.messages,
      systemPrompt: textsOf(objectOf(request.systemInstruction).parts, "\n\n"),
      tools: listOf(request.tools).flatMap((tool) =>
        listOf(tool.functionDeclarations).map((declaration) =>
          toolOf(declaration, declaration.parametersJsonSchema ?? declaration.parameters),
        ),
      ),
    };
  },
  createWriter: (head) => googleWriter(head),
  errorBody: (code, message, status) => ({
    error: { code, message, status: status ?? statusNames[code] ?? "INTERNAL" },
  }),
  overflow: {
    message:
      "The input token count (1213462) exceeds the maximum number of tokens allowed (1048576).",
    code: "INVALID_ARGUMENT",
  },
};

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

/** Matches calls and results by order if no ids are sent. */
class CallIds {
  #count = 0;
  readonly #waiting = new Map<string, string[]>();

  open(name: string, given: string): string {
    const id = given || `call_${this.#count++}`;
    this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), id]);
    return id;
  }

  answer(name: string, given: string): string {
    return given || this.#waiting.get(name)?.shift() || "";
  }
}

function userPart(part: JsonObject): UserContent[] {
  const image = objectOf(part.inlineData);
  if (textOf(image.data) === "") return textBlock(textOf(part.text));
  return [{ type: "image", data: textOf(image.data), mimeType: textOf(image.mimeType) }];
}

function addUserParts(
  conversation: Conversation,
  parts: readonly JsonObject[],
  callIds: CallIds,
): void {
  for (const part of parts.filter((each) => each.functionResponse !== undefined)) {
    const answer = objectOf(part.functionResponse);
    const response = objectOf(answer.response);
    const name = textOf(answer.name);
    conversation.addToolResult({
      id: callIds.answer(name, textOf(answer.id)),
      name,
      content: [
        ...textBlock(textOf(response.error ?? response.output)),
        ...listOf(answer.parts).flatMap(userPart),
      ],
      isError: response.error !== undefined,
    });
  }
  conversation.addUser(
    parts.filter((part) => part.functionResponse === undefined).flatMap(userPart),
  );
}

function assistantPart(part: JsonObject, callIds: CallIds): AssistantContent[] {
  if (part.functionCall !== undefined) {
    const { id, name, args } = objectOf(part.functionCall);
    const call = { name: textOf(name), arguments: { ...objectOf(args) } };
    return [{ type: "toolCall", id: callIds.open(call.name, textOf(id)), ...call }];
  }
  if (part.thought === true) return [{ type: "thinking", thinking: textOf(part.text) }];
  return textBlock(textOf(part.text));
}

function googleWriter(head: ReplyHead): ReplyWriter {
  let openCall: { id: string; name: string; json: string[] } | undefined;
  const tail = JSON.stringify({ modelVersion: head.model, responseId: head.id }).slice(1);
  const suffix = `],"role":"model"},"index":0}],${tail}\n\n`;

  /** In this format, calls are sent whole. */
  function endCall(): string {
    const call = openCall;
    if (call === undefined) return "";
    openCall = undefined;
    const { id, name, json } = call;
    const args = parseArguments(json.join(""));
    return part(JSON.stringify({ functionCall: { id, name, args } }));
  }

  function part(part: string): string {
    return `data: {"candidates":[{"content":{"parts":[${part}${suffix}`;
  }

  function stop(reason: string): string {
    const { input = 0, output = 0, cacheRead = 0, reasoning = 0 } = head.usage;
    const prompt = input + cacheRead;
    const last = {
      candidates: [
        {
          content: { parts: [{ text: "" }], role: "model" },
          finishReason: reason === "length" ? "MAX_TOKENS" : "STOP",
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: prompt,
        candidatesTokenCount: output - reasoning,
        ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
        ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
        totalTokenCount: prompt + output,
      },
      modelVersion: head.model,
      responseId: head.id,
    };
    return serverSentEvent(JSON.stringify(last));
  }

  return {
    start: () => "",
    write(delta) {
      switch (delta.type) {
        case "text":
          return part(`{"text":${JSON.stringify(delta.text)}}`);
        case "thinking":
          return part(`{"text":${JSON.stringify(delta.text)},"thought":true}`);
        case "signature":
          return part(
            JSON.stringify({ text: "", thought: true, thoughtSignature: delta.signature }),
          );
        case "tool_call":
          openCall ??= { id: delta.id ?? "", name: delta.name ?? "", json: [] };
          if (delta.arguments !== undefined) openCall.json.push(delta.arguments);
          return "";
        case "block_end":
          return endCall();
        case "stop":
          return stop(delta.reason);
        default:
          return "";
      }
    },
    error(message, code) {
      const body = googleGenerativeAiWire.errorBody(503, message, code);
      return serverSentEvent(JSON.stringify(body));
    },
  };
}
