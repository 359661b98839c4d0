import { HarnessCapabilityUnsupportedError, type HarnessV1Prompt } from "@ai-sdk/harness";
import { HARNESS_ID } from "./lifecycle-state.ts";

interface Prompt {
  readonly message: string;
  readonly images: ({ type: "image" } & File)[];
  /** PDFs and other documents of the types that the host accepts. */
  readonly attachments: File[];
}

interface File {
  readonly data: string;
  readonly mimeType: string;
  readonly fileName?: string;
}

/** The text and files of a prompt. */
export function readPrompt(prompt: HarnessV1Prompt): Prompt {
  const content = typeof prompt === "string" ? prompt : prompt.content;
  if (typeof content === "string") return { message: content, images: [], attachments: [] };
  const texts: string[] = [];
  const images: Prompt["images"] = [];
  const attachments: File[] = [];
  for (const part of content) {
    if (part.type === "text") {
      texts.push(part.text);
      continue;
    }
    const { fileName, ...file } = fileOf(part);
    if (file.mimeType.startsWith("image/")) images.push({ type: "image", ...file });
    else attachments.push({ ...file, ...(fileName !== undefined && { fileName }) });
  }
  return { message: texts.join("\n"), images, attachments };
}

function fileOf(part: object): File {
  const { image, data, mediaType, filename } = part as Readonly<Record<string, unknown>>;
  const value = image ?? Object(data).data ?? data;
  const mimeType = typeof mediaType === "string" ? mediaType : "image/png";
  const bytes =
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : String(value ?? "");
  const [, typed, encoded] = /^data:([^;,]+);base64,(.*)$/s.exec(bytes) ?? [];
  if (bytes.startsWith("http")) {
    const message = `Tau takes texts and files as data; this prompt has ${bytes}`;
    throw new HarnessCapabilityUnsupportedError({ message, harnessId: HARNESS_ID });
  }
  const name = typeof filename === "string" && { fileName: filename };
  return { data: encoded ?? bytes, mimeType: typed ?? mimeType, ...name };
}
