import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import { ProviderError } from "../errors.ts";
import type { Delta, Reducer } from "../provider.ts";
import type { Assembler } from "./assemble.ts";
import { GatheredText } from "./gathered-text.ts";
import type { NamedCalls } from "./named-calls.ts";

type Events = readonly AssistantMessageEvent[];

export interface ReplyEventsOptions {
  readonly reduce: Reducer<unknown>;
  readonly assembler: Assembler;
  /** The names of tools that the vendor knows by another name. */
  readonly ownNames: ReadonlyMap<string, string>;
  readonly namedCalls: NamedCalls | undefined;
  /** Whether text is held back until everything that has arrived is read. */
  readonly gathers: () => boolean;
}

/** Turns what a vendor sends into the events of a reply. */
export class ReplyEvents {
  readonly #options: ReplyEventsOptions;
  readonly #gathered = new GatheredText();

  constructor(options: ReplyEventsOptions) {
    this.#options = options;
  }

  /** The events of a chunk. With an error, they are those of its readable part. */
  of(chunk: unknown): { readonly events: Events; readonly error?: unknown } {
    const { reduce, namedCalls } = this.#options;
    let events: Events = [];
    const add = (delta: Delta): void => {
      const more = this.#take(delta);
      events = events.length === 0 ? more : [...events, ...more];
    };
    try {
      for (const delta of reduce(chunk)) {
        const named = namedCalls?.read(delta);
        if (named === undefined) add(delta);
        else for (const each of named) add(each);
      }
    } catch (error) {
      return { events, error: unreadable(error) };
    }
    return { events };
  }

  /** The events of the text that was held back. */
  release(): Events {
    return this.#push(this.#gathered.release());
  }

  #take(delta: Delta): Events {
    const { gathers, assembler, ownNames } = this.#options;
    const own = withOwnName(delta, ownNames);
    if (!gathers() && !this.#gathered.isHeld) return assembler.push(own);
    return this.#push(this.#gathered.take(own));
  }

  #push(deltas: readonly Delta[]): Events {
    const { assembler } = this.#options;
    const [only] = deltas;
    if (only !== undefined && deltas.length === 1) return assembler.push(only);
    return deltas.flatMap((delta) => assembler.push(delta));
  }
}

/** Restores the tool's own name; only the vendor sees the converted one. */
function withOwnName(delta: Delta, ownNames: ReadonlyMap<string, string>): Delta {
  if (delta.type !== "tool_call" || delta.name === undefined) return delta;
  return { ...delta, name: ownNames.get(delta.name) ?? delta.name };
}

/** A reducer fails only on undocumented input, and a retry may return readable input. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof TypeError || error instanceof RangeError)) return error;
  const message = `The server sent an event that cannot be read: ${error.message}`;
  return new ProviderError({ code: "overloaded", message, cause: error });
}
