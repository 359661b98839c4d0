import { HarnessCapabilityUnsupportedError, type HarnessV1Prompt } from "@ai-sdk/harness";
import { HARNESS_ID } from "./lifecycle-state.ts";

interface Prompt {
  readonly message: string;
  readonly images: { type: "image"; data: string; mimeType: string }[];
}

/** The text and images of a prompt. */
export function readPrompt(prompt: HarnessV1Prompt): Prompt {
  if (typeof prompt === "string") return { message: prompt, images: [] };
  const { content } = prompt;
  if (typeof content === "string") return { message: content, images: [] };
  const texts: string[] = [];
  const images: Prompt["images"] = [];
  for (const part of content) {
    if (part.type === "text") texts.push(part.text);
    else images.push(imageOf(part));
  }
  return { message: texts.join("\n"), images };
}

function imageOf(part: object): Prompt["images"][number] {
  const { image, data, mediaType } = part as Readonly<Record<string, unknown>>;
  const value = image ?? Object(data).data ?? data;
  const mimeType = typeof mediaType === "string" ? mediaType : "image/png";
  const bytes =
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value ?? "");
  const [, typed, encoded] = /^data:([^;,]+);base64,(.*)$/s.exec(bytes) ?? [];
  if (!(typed ?? mimeType).startsWith("image/") || bytes.startsWith("http")) {
    const message = `Tau takes texts and images as data; this prompt has ${typed ?? mimeType}`;
    throw new HarnessCapabilityUnsupportedError({ message, harnessId: HARNESS_ID });
  }
  return { type: "image", data: encoded ?? bytes, mimeType: typed ?? mimeType };
}
