import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import type { AtifContent, AtifPart } from "./atif.ts";

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Images become data URLs, so that a trajectory stays one file. */
export function contentOf(content: string | readonly UserContent[]): AtifContent {
  if (typeof content === "string") return content;
  const parts = content.map(partOf);
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : parts;
}

function partOf(block: UserContent): AtifPart {
  if (block.type === "text") return { type: "text", text: block.text };
  const { mimeType, data } = block;
  if (!imageTypes.includes(mimeType)) return { type: "text", text: `[${mimeType} left out]` };
  return {
    type: "image",
    source: { media_type: mimeType, path: `data:${mimeType};base64,${data}` },
  };
}
