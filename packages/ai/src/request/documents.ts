import type { Model, TextContent, UserContent } from "@tau-agent/rpc-protocol/messages";

/** The file that a text block was read from, for wire formats that take such files. */
export interface DocumentSource {
  readonly fileName: string;
  readonly mimeType: "application/pdf";
  /** The file as base64. */
  readonly data: string;
  readonly pages: number;
}

/** A text in a request, and the file that says the same. */
export type DocumentText = TextContent & { readonly document: DocumentSource };

/** The file that a block may be sent as. */
export function documentOf(block: UserContent): DocumentSource | undefined {
  return block.type === "text" ? (block as Partial<DocumentText>).document : undefined;
}

/** What an endpoint takes of files in one request. */
interface DocumentLimits {
  readonly count: number;
  readonly pages: number;
  /** Of one file, and of all together, as base64. */
  readonly bytes: number;
  readonly totalBytes: number;
}

interface DocumentEndpoint {
  readonly apis: readonly string[];
  /** Only on these hosts, and those below them; any by default. */
  readonly hosts?: readonly string[];
  /** Only models whose name has this. */
  readonly models?: RegExp;
  readonly limits: DocumentLimits;
}

const MiB = 1024 * 1024;
const any = Number.POSITIVE_INFINITY;
const anthropic = { count: any, pages: 600, bytes: 28 * MiB, totalBytes: 28 * MiB };
const openai = { count: any, pages: 600, bytes: 40 * MiB, totalBytes: 40 * MiB };
const google = { count: any, pages: 1000, bytes: 18 * MiB, totalBytes: 18 * MiB };

/** Where files are documented; others get the text. */
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

/** Of windows under a million tokens, Claude reads this many pages. */
const pagesOfSmallWindow = 100;
const smallWindow = 1_000_000;

function limitsFor(model: Model): DocumentLimits | undefined {
  // Where images are read, pages are.
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

/** Whether PDFs reach a model as they are. */
export function takesDocuments(model: Model): boolean {
  return limitsFor(model) !== undefined;
}

/**
 * Decides which files of a conversation go as files: the first that the endpoint takes together. So the beginning
 * of a request stays the same when more come.
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
