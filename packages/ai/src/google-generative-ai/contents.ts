import type { Content, FunctionResponse, Part } from "@google/genai";
import type {
  AssistantMessage,
  ImageContent,
  LlmMessage,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { Memo } from "../memo.ts";

/** What the encoding of messages depends on. */
export interface ContentRules {
  /** Takes call ids and images inside tool results, and wants calls signed. */
  readonly isGemini3: boolean;
}

/** What the vendor documents for calls that another model made, which carry no signature. */
const unsigned = { thoughtSignature: "skip_thought_signature_validator" };

type Signature = Pick<Part, "thoughtSignature">;

/** Messages in the vendor's shape; neighbouring tool results become one message. */
export function encodeContents(
  messages: readonly LlmMessage[],
  rules: ContentRules,
  memo: Memo = new Memo(),
): Content[] {
  const recall = memo.under<Encoded>(["google-generative-ai", rules.isGemini3]);
  const contents: Content[] = [];
  let results: Encoded[] = [];
  const flush = (): void => {
    if (results.length > 0) contents.push(...joinResults(results));
    results = [];
  };
  for (const message of messages) {
    const encoded = recall(message, () => encodeMessage(message, rules));
    if (message.role === "toolResult") {
      results.push(encoded);
      continue;
    }
    flush();
    const { role, parts } = encoded;
    if (parts.length > 0) contents.push({ role, parts });
  }
  flush();
  return contents;
}

/** What one message becomes. */
interface Encoded {
  readonly role: "user" | "model";
  readonly parts: Part[];
  /** Of a tool result, where it cannot hold them itself. */
  readonly images: readonly Part[];
}

function encodeMessage(message: LlmMessage, rules: ContentRules): Encoded {
  if (message.role === "toolResult") return encodeResult(message, rules);
  if (message.role === "user")
    return { role: "user", parts: encodeUser(message.content), images: [] };
  return { role: "model", parts: encodeAssistant(message, rules), images: [] };
}

function encodeUser(content: string | readonly UserContent[]): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  return content.map((block) =>
    block.type === "image" ? encodeImage(block) : { text: block.text },
  );
}

function encodeImage({ data, mimeType }: ImageContent): Part {
  return { inlineData: { data, mimeType } };
}

function encodeAssistant(message: AssistantMessage, rules: ContentRules): Part[] {
  const firstCall = message.content.find((block) => block.type === "toolCall");
  return message.content.flatMap((block): Part[] => {
    if (block.type === "text") {
      const signature = validSignature(block.textSignature);
      return block.text === "" && !signature ? [] : [{ text: block.text, ...signature }];
    }
    if (block.type === "thinking") {
      const signature = validSignature(block.thinkingSignature);
      return signature ? [{ text: block.thinking, thought: true, ...signature }] : [];
    }
    const { id, name, arguments: args } = block;
    // Only the first of parallel calls is signed.
    const fallback = rules.isGemini3 && block === firstCall ? unsigned : {};
    const signature = validSignature(block.thoughtSignature) ?? fallback;
    return [{ functionCall: { ...(rules.isGemini3 && { id }), name, args }, ...signature }];
  });
}

/** The vendor refuses a whole request for one signature that is not base64. */
function validSignature(signature: string | undefined): Signature | undefined {
  const isBase64 = signature !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(signature);
  return isBase64 && signature.length % 4 === 0 ? { thoughtSignature: signature } : undefined;
}

function encodeResult(result: ToolResultMessage, { isGemini3 }: ContentRules): Encoded {
  const images = result.content.filter((block) => block.type === "image").map(encodeImage);
  const functionResponse: FunctionResponse = {
    ...(isGemini3 && { id: result.toolCallId }),
    name: result.toolName,
    response: { [result.isError ? "error" : "output"]: resultText(result) },
    ...(isGemini3 && images.length > 0 && { parts: images }),
  };
  return { role: "user", parts: [{ functionResponse }], images: isGemini3 ? [] : images };
}

function joinResults(results: readonly Encoded[]): Content[] {
  const contents: Content[] = [{ role: "user", parts: results.flatMap(({ parts }) => parts) }];
  const images = results.flatMap((result) => result.images);
  if (images.length > 0) {
    contents.push({ role: "user", parts: [{ text: "Images of the results above:" }, ...images] });
  }
  return contents;
}

function resultText({ content }: ToolResultMessage): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (text !== "") return text;
  return content.length > 0 ? "(see attached image)" : "(no output)";
}
