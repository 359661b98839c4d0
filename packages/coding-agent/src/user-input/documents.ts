import type { DocumentSource, DocumentText } from "@tau-agent/ai";
import type { LlmMessage, UserContent } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

export function isPdfType(mimeType: string): boolean {
  return /^application\/pdf\b/i.test(mimeType);
}

/**
 * Adds a message's PDFs to their texts, so that an endpoint that accepts PDFs gets them instead. Returns the same
 * message if it has none.
 */
export function withDocuments<Message extends LlmMessage>(message: Message): Message {
  if (message.role === "assistant" || typeof message.content === "string") return message;
  const found = message.role === "user" ? attached(message) : shown(message);
  if (found.every((document) => document === undefined)) return message;
  const content = message.content.map((block, at): UserContent => {
    const document = found[at];
    if (document === undefined || block.type !== "text") return block;
    const sent: DocumentText = { ...block, document };
    return sent;
  });
  return { ...message, content };
}

type Found = readonly (DocumentSource | undefined)[];

/** Attachments are the last blocks of a message, in the same order. */
function attached({ content, attachments = [] }: Extract<LlmMessage, { role: "user" }>): Found {
  if (typeof content === "string") return [];
  const from = content.length - attachments.length;
  return content.map((block, at) => {
    const file = attachments[at - from];
    if (file === undefined || block.type !== "text" || !block.text.startsWith("<file name=")) {
      return undefined;
    }
    if (!isPdfType(file.mimeType) || file.content === "" || file.extractedText) return undefined;
    const pages = Number(/^\[Page 1 of (\d+)\]$/m.exec(block.text)?.[1] ?? 1);
    const { fileName } = file;
    // A vendor refuses line breaks and similar characters, which decoders ignore.
    const data = Buffer.from(file.content, "base64").toString("base64");
    return { fileName, mimeType: "application/pdf", data, pages };
  });
}

/** A result of `read` has the file in its details; the last block is its text. */
function shown({ content, details }: Extract<LlmMessage, { role: "toolResult" }>): Found {
  const document = isJsonObject(details) ? details.document : undefined;
  return content.map((_, at) => {
    const isLast = at === content.length - 1;
    return isLast && isSource(document) ? document : undefined;
  });
}

function isSource(value: unknown): value is DocumentSource {
  return (
    isJsonObject(value) &&
    value.mimeType === "application/pdf" &&
    typeof value.fileName === "string" &&
    typeof value.data === "string" &&
    typeof value.pages === "number"
  );
}
