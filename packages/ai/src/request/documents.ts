import type { Model, TextContent, UserContent } from "@tau-agent/rpc-protocol/messages";

/** The file from which a text block was extracted, for wire formats that accept such files. */
export interface DocumentSource {
  readonly fileName: string;
  readonly mimeType: "application/pdf";
  /** The file as base64. */
  readonly data: string;
  readonly pages: number;
}

/** A text in a request, and the file with the same content. */
export type DocumentText = TextContent & { readonly document: DocumentSource };

/** The file that may be sent instead of a block. */
export function documentOf(block: UserContent): DocumentSource | undefined {
  return block.type === "text" ? (block as Partial<DocumentText>).document : undefined;
}

/** The limits of an endpoint for files in one request. */
interface DocumentLimits {
  readonly count: number;
  readonly pages: number;
  /** The limit for one file and for all together, in bytes of base64. */
  readonly bytes: number;
  readonly totalBytes: number;
}

interface DocumentEndpoint {
  readonly apis: readonly string[];
  /** Only these hosts and their subdomains; by default, any host. */
  readonly hosts?: readonly string[];
  /** Only models whose name matches. */
  readonly models?: RegExp;
  readonly limits: DocumentLimits;
}

const MiB = 1024 * 1024;
const any = Number.POSITIVE_INFINITY;
const anthropic = { count: any, pages: 600, bytes: 28 * MiB, totalBytes: 28 * MiB };
const openai = { count: any, pages: 600, bytes: 40 * MiB, totalBytes: 40 * MiB };
const google = { count: any, pages: 1000, bytes: 18 * MiB, totalBytes: 18 * MiB };

/** Endpoints that document support for files; others receive the text. */
const endpoints: readonly DocumentEndpoint[] = [
  { apis: ["anthropic-messages"], hosts: ["anthropic.com"], limits: anthropic },
  { apis: ["anthropic-vertex"], limits: anthropic },
  {
    apis: ["bedrock-converse-stream"],
    models: /claude|nova/,
    limits: { count: 5, pages: 100, bytes: 6_000_000, totalBytes: 24_000_000 },
  },
  { apis: ["google-generative-ai", "google-vertex"], models: /gemini/, limits: google },
  { apis: ["openai-responses"], hosts: ["openai.com", "openai.azure.com"], limits: openai },
  { apis: ["azure-openai-responses"], limits: openai },
  { apis: ["openai-completions"], hosts: ["openai.com", "openrouter.ai"], limits: openai },
];

/** With a window under a million tokens, Claude reads this many pages. */
const pagesOfSmallWindow = 100;
const smallWindow = 1_000_000;

function limitsFor(model: Model): DocumentLimits | undefined {
  // Models that read images also read pages.
  if (!model.input.includes("image")) return undefined;
  const { hostname } = URL.canParse(model.baseUrl) ? new URL(model.baseUrl) : { hostname: "" };
  const isOf = (host: string) => hostname === host || hostname.endsWith(`.${host}`);
  const own = model.compat?.supportsDocuments;
  const found = endpoints.find(
    ({ apis, hosts, models }) =>
      apis.includes(model.api) &&
      (own === true ||
        ((hosts?.some(isOf) ?? true) &&
          (models?.test(`${model.id} ${model.name}`.toLowerCase()) ?? true))),
  );
  if (found === undefined || own === false) return undefined;
  const isSmall = found.limits === anthropic && model.contextWindow < smallWindow;
  return isSmall ? { ...found.limits, pages: pagesOfSmallWindow } : found.limits;
}

/** Whether a model receives PDFs as files. */
export function takesDocuments(model: Model): boolean {
  return limitsFor(model) !== undefined;
}

/**
 * Decides which files of a conversation are sent as files: the first ones that fit the endpoint's limits.
 * This way, the beginning of a request does not change when more files are added.
 */
export class DocumentBudget {
  readonly #limits: DocumentLimits | undefined;
  #count = 0;
  #pages = 0;
  #bytes = 0;

  constructor(model: Model) {
    this.#limits = limitsFor(model);
  }

  takes({ data, pages }: DocumentSource): boolean {
    const limits = this.#limits;
    if (limits === undefined || data.length > limits.bytes) return false;
    const isOver =
      this.#count + 1 > limits.count ||
      this.#pages + pages > limits.pages ||
      this.#bytes + data.length > limits.totalBytes;
    if (isOver) return false;
    this.#count += 1;
    this.#pages += pages;
    this.#bytes += data.length;
    return true;
  }
}
