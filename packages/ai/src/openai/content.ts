import type { ImageContent, UserContent } from "@tau-agent/rpc-protocol/messages";

export function dataUrl({ mimeType, data }: Pick<ImageContent, "mimeType" | "data">): string {
  return `data:${mimeType};base64,${data}`;
}

/** The text blocks of a content, joined with line breaks. */
export function joinText(content: readonly UserContent[]): string {
  return content
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .filter((text) => text !== "")
    .join("\n");
}

/** The placeholder for a tool result without text: most servers refuse an empty one. */
export function imageOnlyText(content: readonly UserContent[]): string {
  return content.some((block) => block.type === "image") ? "(see attached image)" : "(no output)";
}
