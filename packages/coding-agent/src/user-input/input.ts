import type {
  Attachment,
  AttachmentInput,
  ImageContent,
  ImageInput,
  ResourceReference,
  UserContent,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { contentText, errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { FetchForeign } from "@tau-agent/system";
import { isPdfType } from "./documents.ts";
import { fetchImage } from "./fetch-image.ts";

/** What a user sends along with a text. */
export interface PromptInput {
  readonly images?: readonly ImageInput[] | undefined;
  readonly attachments?: readonly AttachmentInput[] | undefined;
  /** Resources of MCP servers. */
  readonly resources?: readonly ResourceReference[] | undefined;
  /**
   * For text that a program forwards: commands, templates, skills and `@file` in it are not expanded, and it counts as
   * text from outside (rules with `afterUntrusted`).
   */
  readonly verbatim?: boolean | undefined;
}

export interface UserInputOptions {
  /** Expands `/skill:name` and `/template`. */
  readonly expand: (text: string) => Promise<string>;
  /** The content for a command of an MCP server; undefined for any other text. */
  readonly expandRemote?:
    | ((text: string) => Promise<readonly UserContent[] | undefined>)
    | undefined;
  readonly readResource?:
    | ((resource: ResourceReference) => Promise<readonly Attachment[]>)
    | undefined;
  /** Checks an image and scales it down if needed; throws an error with a readable reason. */
  readonly prepareImage: (image: ImageContent) => Promise<ImageContent>;
  /** Fetches an image from a URL. */
  readonly fetch?: FetchForeign | undefined;
}

/** Creates user messages from what clients send. */
export class UserInput {
  readonly #options: UserInputOptions;

  constructor(options: UserInputOptions) {
    this.#options = options;
  }

  /**
   * A user message: plain text, or blocks if there are images or attachments.
   *
   * @throws {SessionError} `prompt_empty`; `invalid_image`, `invalid_attachment`, naming the field;
   *   `mcp_server_not_found`, `mcp_failed`
   */
  async build(text: string, input: PromptInput): Promise<UserMessage> {
    const isExpanded = text.startsWith("/") && input.verbatim !== true;
    const remote = isExpanded ? await this.#options.expandRemote?.(text) : undefined;
    const isLocal = isExpanded && remote === undefined;
    const expanded = isLocal
      ? await this.#options.expand(text)
      : contentText(remote ?? text, "\n\n");
    const blocks: UserContent[] = (remote ?? []).filter(({ type }) => type === "image");
    for (const [index, image] of (input.images ?? []).entries()) {
      blocks.push(await this.#image(image, `images[${index}]`));
    }
    const attachments = (input.attachments ?? []).map(wholeAttachment);
    for (const resource of input.resources ?? []) {
      attachments.push(...((await this.#options.readResource?.(resource)) ?? []));
    }
    for (const [index, attachment] of attachments.entries()) {
      blocks.push(await this.#attachment(attachment, `attachments[${index}]`));
    }
    // Vendors reject an empty message with an unclear error.
    if (blocks.length === 0 && expanded.trim() === "") throw new SessionError("prompt_empty");
    const leading: UserContent[] = expanded === "" ? [] : [{ type: "text", text: expanded }];
    return {
      role: "user",
      content: blocks.length === 0 ? expanded : [...leading, ...blocks],
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(input.verbatim === true ? { verbatim: true as const } : {}),
      timestamp: Date.now(),
    };
  }

  async #image(input: ImageInput, field: string): Promise<ImageContent> {
    try {
      return await this.#options.prepareImage(await this.#toContent(input));
    } catch (error) {
      const reason = errorMessage(error);
      throw new SessionError("invalid_image", { field, reason }, { cause: error });
    }
  }

  async #toContent(input: ImageInput): Promise<ImageContent> {
    if (!("source" in input)) return { type: "image", data: input.data, mimeType: input.mimeType };
    const { source } = input;
    if (source.type === "base64") {
      return { type: "image", data: source.data, mimeType: source.mediaType };
    }
    return fetchImage(source.url, this.#options.fetch);
  }

  async #attachment(attachment: Attachment, field: string): Promise<UserContent> {
    const { content, mimeType, fileName, extractedText } = attachment;
    if (attachment.type === "image" || mimeType.startsWith("image/")) {
      return this.#image({ type: "image", data: content, mimeType }, field);
    }
    const refuse = (reason: string) => new SessionError("invalid_attachment", { field, reason });
    const text =
      extractedText ??
      (isPdfType(mimeType) ? await pdfText(attachment, refuse) : decodeText(content, mimeType));
    if (text === undefined) {
      throw refuse(`${fileName} is ${mimeType}; send its text as extractedText`);
    }
    return { type: "text", text: `<file name="${fileName}">\n${text}\n</file>` };
  }
}

/** An attachment with all members of the documented form. */
function wholeAttachment(given: AttachmentInput, index: number): Attachment {
  if ("content" in given) return given;
  const { mimeType, fileName = isPdfType(mimeType) ? "document.pdf" : "file" } = given;
  const type = mimeType.startsWith("image/") ? "image" : "document";
  const data = given.data.replace(/^data:[^,]*,/, "");
  const size = Buffer.byteLength(data, "base64");
  return { id: `attachment-${index + 1}`, type, fileName, mimeType, size, content: data };
}

/** About 100 000 tokens. */
const maxPdfText = 400_000;

async function pdfText(
  { content, fileName }: Attachment,
  refuse: (reason: string) => SessionError,
): Promise<string> {
  const { pdfPages } = await import("@tau-agent/system/pdf-pages");
  const read = await pdfPages({ bytes: Buffer.from(content, "base64"), maxLength: maxPdfText });
  if ("reason" in read) throw refuse(`${fileName} cannot be read: ${read.reason}`);
  const { text, last, total } = read;
  return last < total ? `${text}\n\n[Pages ${last + 1}-${total} are left out]` : text;
}

const textTypes = /^(text\/|application\/(json|xml|javascript|typescript|yaml|x-yaml|toml|x-sh))/;

function decodeText(base64: string, mimeType: string): string | undefined {
  return textTypes.test(mimeType) ? Buffer.from(base64, "base64").toString("utf8") : undefined;
}
