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
  #error: unknown;

  constructor(options: ReplyEventsOptions) {
    this.#options = options;
  }

  /** Why a chunk could not be read. */
  get error(): unknown {
    return this.#error;
  }

  /** The events of a chunk, or of the part of it that can be read. */
  of(chunk: unknown): Events {
    const { reduce, namedCalls } = this.#options;
    let events = nothing;
    try {
      for (const delta of reduce(chunk)) {
        const calls = namedCalls?.read(delta);
        if (calls === undefined) events = join(events, this.#take(delta));
        else for (const call of calls) events = join(events, this.#take(call));
      }
    } catch (error) {
      this.#error = unreadable(error);
    }
    return events;
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
    let events = nothing;
    for (const delta of deltas) events = join(events, this.#options.assembler.push(delta));
    return events;
  }
}

const nothing: Events = [];

/** Most chunks cause one event at most, so a copy is rare. */
function join(events: Events, more: Events): Events {
  if (events.length === 0) return more;
  return more.length === 0 ? events : [...events, ...more];
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
