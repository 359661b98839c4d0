/**
 * Replaces the parts of Node's `fetch` that the vendors' SDKs use, without loading it. The SDKs of OpenAI and
 * Anthropic create `Headers` and check whether bodies are instances of the other classes; Google's SDK wraps
 * each event in a `Response`.
 */
export { HeaderList as Headers } from "../src/transport/header-list.ts";

export class FormData {}

export class ReadableStream {}

export class Response {
  readonly status: number;
  readonly statusText: string;
  readonly headers: unknown;
  readonly ok: boolean;
  readonly #text: string;

  constructor(
    text: string,
    init: { status?: number; statusText?: string; headers?: unknown } = {},
  ) {
    this.#text = text;
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = init.headers;
    this.ok = this.status >= 200 && this.status <= 299;
  }

  async text(): Promise<string> {
    return this.#text;
  }

  async json(): Promise<unknown> {
    return JSON.parse(this.#text);
  }
}
