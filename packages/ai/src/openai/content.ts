import type { ImageContent, UserContent } from "@tau-agent/rpc-protocol/messages";

export function dataUrl({ mimeType, data }: Pick<ImageContent, "mimeType" | "data">): string {
  return `data:${mimeType};base64,${data}`;
}

/** The text blocks of a content, one after the other on lines of their own. */
export function joinText(content: readonly UserContent[]): string {
  return content
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .filter((text) => text !== "")
    .join("\n");
}

/** What stands where a tool result has no text: most servers refuse an empty one. */
export function imageOnlyText(content: readonly UserContent[]): string {
  return content.some((block) => block.type === "image") ? "(see attached image)" : "(no output)";
}
