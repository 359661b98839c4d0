import type { StreamOptions, ToolDefinition } from "../provider.ts";
import { GrowingJson } from "./growing-json.ts";
import { LastMade } from "./last-made.ts";
import { Memo } from "./memo.ts";

interface EncodedTools {
  readonly given: readonly ToolDefinition[];
  readonly rule: boolean;
  readonly encoded: readonly object[];
}

/**
 * The state that a wire format keeps between requests, so that a turn late in a conversation costs no more
 * than an early one. Each provider loaded by a stream function has its own.
 */
export class RequestMemory {
  readonly #messages = new Memo();
  readonly #body = new GrowingJson();
  /** The tools of the last request; a weak reference, because most sessions are idle. */
  #tools: WeakRef<EncodedTools> | undefined;
  /** The vendor's client, created from server, key and headers. */
  readonly client: LastMade = new LastMade();

  /** The cache of encoded messages. A payload that others see may be modified, so it gets a new cache. */
  messages({ onPayload }: StreamOptions): Memo {
    return onPayload === undefined ? this.#messages : new Memo();
  }

  /**
   * Tools in the vendor's format, the same objects while the tools stay the same.
   *
   * @param rule - what the encoding depends on besides the tool
   */
  tools<Encoded extends object>(
    given: readonly ToolDefinition[] = [],
    { onPayload }: StreamOptions,
    rule: boolean,
    encode: (tool: ToolDefinition, rule: boolean) => Encoded,
  ): readonly Encoded[] {
    const last = onPayload === undefined ? this.#tools?.deref() : undefined;
    // The same list with the same rule was encoded by the same format.
    if (last?.given === given && last.rule === rule) return last.encoded as readonly Encoded[];
    const encoded = given.map((tool) => encode(tool, rule));
    if (onPayload !== undefined) return encoded;
    this.#tools = new WeakRef({ given, rule, encoded });
    return encoded;
  }

  /** `request` as JSON; `list` is the member that each request repeats and extends. */
  body(request: object, list: string, { onPayload }: StreamOptions): string {
    return onPayload === undefined ? this.#body.of(request, list) : JSON.stringify(request);
  }
}
