import type { Content, FunctionResponse, Part } from "@google/genai";
import type {
  AssistantMessage,
  ImageContent,
  LlmMessage,
  TextContent,
  ToolResultMessage,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import { documentOf } from "../request/documents.ts";
import { Memo } from "../request/memo.ts";

export interface ContentRules {
  /** Whether the model accepts call ids and images inside tool results and requires signed calls. */
  readonly isGemini3: boolean;
  /** Vertex AI accepts neither ids nor the placeholder signature. */
  readonly isVertex: boolean;
}

/** The documented placeholder for calls that another model made, which have no signature. */
const unsigned = { thoughtSignature: "skip_thought_signature_validator" };

type Signature = Pick<Part, "thoughtSignature">;

/** Encodes messages in the vendor's format; adjacent tool results become one message. */
export function encodeContents(
  messages: readonly LlmMessage[],
  rules: ContentRules,
  memo: Memo = new Memo(),
): Content[] {
  const { contents, results } = memo.fold<Conversation>(messages, {
    rules: ["google-generative-ai", rules],
    start: () => ({ contents: [], results: [] }),
    step(conversation, message) {
      if (message.role === "toolResult") {
        conversation.results.push(message);
        return;
      }
      conversation.contents.push(...encodeResults(conversation.results, rules));
      conversation.results = [];
      const parts =
        message.role === "user" ? encodeUser(message.content) : encodeAssistant(message, rules);
      const role = message.role === "user" ? "user" : "model";
      if (parts.length > 0) conversation.contents.push({ role, parts });
    },
  });
  return [...contents, ...encodeResults(results, rules)];
}

interface Conversation {
  readonly contents: Content[];
  /** The results since the last other message. */
  results: ToolResultMessage[];
}

function encodeUser(content: string | readonly UserContent[]): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  return content.map((block) => {
    const file = block.type === "image" ? block : documentOf(block);
    return file === undefined ? { text: (block as TextContent).text } : encodeFile(file);
  });
}

function encodeFile({ data, mimeType }: Pick<ImageContent, "data" | "mimeType">): Part {
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
    const needsWord = rules.isGemini3 && !rules.isVertex && block === firstCall;
    const fallback = needsWord ? unsigned : {};
    const signature = validSignature(block.thoughtSignature) ?? fallback;
    return [{ functionCall: { ...(takesIds(rules) && { id }), name, args }, ...signature }];
  });
}

function takesIds({ isGemini3, isVertex }: ContentRules): boolean {
  return isGemini3 && !isVertex;
}

/** The vendor refuses a whole request if one signature is not base64. */
function validSignature(signature: string | undefined): Signature | undefined {
  const isBase64 = signature !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(signature);
  return isBase64 && signature.length % 4 === 0 ? { thoughtSignature: signature } : undefined;
}

function encodeResults(results: readonly ToolResultMessage[], rules: ContentRules): Content[] {
  if (results.length === 0) return [];
  const responses = results.map((result): Part => {
    const images = result.content.filter((block) => block.type === "image");
    const functionResponse: FunctionResponse = {
      ...(takesIds(rules) && { id: result.toolCallId }),
      name: result.toolName,
      response: { [result.isError ? "error" : "output"]: resultText(result) },
      ...(rules.isGemini3 && images.length > 0 && { parts: images.map(encodeFile) }),
    };
    return { functionResponse };
  });
  const contents: Content[] = [{ role: "user", parts: responses }];
  const images = results.flatMap(({ content }) => content.filter(({ type }) => type === "image"));
  if (!rules.isGemini3 && images.length > 0) {
    contents.push({
      role: "user",
      parts: [{ text: "Images of the results above:" }, ...encodeUser(images)],
    });
  }
  return contents;
}

function resultText({ content }: ToolResultMessage): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (text !== "") return text;
  return content.length > 0 ? "(see attached image)" : "(no output)";
}
