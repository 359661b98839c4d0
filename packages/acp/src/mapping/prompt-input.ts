import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResource } from "@agentclientprotocol/sdk";
import type { PromptInput } from "@tau-agent/coding-agent";
import type { Attachment, ImageContent } from "@tau-agent/rpc-protocol/messages";
import { attempt } from "@tau-agent/system";
import { invalidParams } from "./errors.ts";

export interface SessionPrompt extends Pick<PromptInput, "images" | "resources"> {
  readonly text: string;
  readonly attachments?: readonly Attachment[];
}

/** The addresses that a prompt links to, except for local files. */
export function linkedAddresses(blocks: readonly ContentBlock[]): string[] {
  const uris = blocks.flatMap((block) => (block.type === "resource_link" ? [block.uri] : []));
  return [...new Set(uris)].filter((uri) => !uri.startsWith("file:") && URL.canParse(uri));
}

/**
 * The blocks of a prompt as text, images and attachments. A link keeps its place in the text; the
 * content of an embedded file becomes an attachment.
 *
 * @throws {RequestError} -32602, naming the block
 */
export function promptInput(blocks: readonly ContentBlock[]): SessionPrompt {
  const images: ImageContent[] = [];
  const attachments: Attachment[] = [];
  const pieces: { readonly text: string; readonly isLink: boolean }[] = [];
  for (const [index, block] of blocks.entries()) {
    const field = `prompt[${index}]`;
    switch (block.type) {
      case "text":
        pieces.push({ text: block.text, isLink: false });
        break;
      case "resource_link":
        pieces.push({ text: link(block.title ?? block.name, block.uri), isLink: true });
        break;
      case "image":
        images.push({ type: "image", data: block.data, mimeType: block.mimeType });
        break;
      case "resource":
        addResource(block.resource, { field, pieces, images, attachments });
        break;
      default:
        throw invalidParams(field, `a block of type ${block.type} is not taken`);
    }
  }
  return {
    text: joined(pieces),
    ...(images.length > 0 && { images }),
    ...(attachments.length > 0 && { attachments }),
  };
}

interface Collected {
  readonly field: string;
  readonly pieces: { readonly text: string; readonly isLink: boolean }[];
  readonly images: ImageContent[];
  readonly attachments: Attachment[];
}

const textTypes = /^text\/|^application\/(?:json|xml|javascript|typescript|x?-?yaml|toml|x-sh)/;

function addResource(resource: EmbeddedResource["resource"], collected: Collected): void {
  const { uri } = resource;
  const mimeType = resource.mimeType ?? "text/plain";
  const { field, pieces, images, attachments } = collected;
  if ("blob" in resource && mimeType.startsWith("image/")) {
    images.push({ type: "image", data: resource.blob, mimeType });
    return;
  }
  if ("blob" in resource && /^application\/pdf\b/i.test(mimeType)) {
    const size = Buffer.byteLength(resource.blob, "base64");
    const file = { fileName: placeOf(uri), mimeType, size, content: resource.blob };
    pieces.push({ text: link(nameOf(uri), uri), isLink: true });
    attachments.push({ id: field, type: "document", ...file });
    return;
  }
  const text = "text" in resource ? resource.text : textOfBlob(resource.blob, mimeType);
  pieces.push({ text: link(nameOf(uri), uri), isLink: true });
  if (text === undefined) return;
  attachments.push({
    id: field,
    type: "document",
    fileName: placeOf(uri),
    mimeType: mimeType.startsWith("image/") ? "text/plain" : mimeType,
    size: Buffer.byteLength(text),
    content: "",
    extractedText: text,
  });
}

/** A file without text is only named: the model may find a way to read it. */
function textOfBlob(blob: string, mimeType: string): string | undefined {
  return textTypes.test(mimeType) ? Buffer.from(blob, "base64").toString("utf8") : undefined;
}

function link(name: string, uri: string): string {
  return `[${name === "" ? nameOf(uri) : name}](${placeOf(uri)})`;
}

function nameOf(uri: string): string {
  return basename(placeOf(uri)) || uri;
}

/** Tools take paths, so local files are named by their path. */
function placeOf(uri: string): string {
  if (!uri.startsWith("file://")) return uri;
  return attempt(() => fileURLToPath(uri.replace(/[?#].*$/, ""))) ?? uri;
}

/** Links stay in their sentence; adjacent text blocks become separate paragraphs. */
function joined(pieces: Collected["pieces"]): string {
  let all = "";
  for (const [index, { text, isLink }] of pieces.entries()) {
    const before = pieces[index - 1];
    const isApart = before !== undefined && !isLink && !before.isLink;
    all += isApart ? `\n${text}` : text;
  }
  return all;
}
