import { ProviderError } from "../errors.ts";
import type { OutputItem, ResponsesEvent } from "./events.ts";

/** The state of an output item while it streams. */
export interface Item {
  readonly key: string;
  readonly type: string | undefined;
  hasName: boolean;
  hasText: boolean;
  /** The text of each part of a message so far. */
  readonly parts: Map<number, string>;
  /** Whether the arguments arrived with the item itself. */
  hasArguments: boolean;
  isFinished: boolean;
  /** The number of announced summary parts, and of those whose text has begun. */
  partCount: number;
  partsSeen: number;
  /** The complete arguments, once a `done` event has delivered them. */
  arguments: string | undefined;
}

type Place = Pick<ResponsesEvent, "output_index" | "item_id">;

/**
 * Finds the item to which an event belongs. The index takes precedence, because some gateways give the same
 * item a different id in every event; then the id; then the only open item of the type.
 */
export class ItemTable {
  readonly #items: Item[] = [];
  readonly #byIndex = new Map<number, Item>();
  readonly #byId = new Map<string, Item>();

  /** Adds the item that an event announces; if it was announced before, returns the existing one. */
  announce(place: Place, data: OutputItem): Item {
    const id = data.id ?? place.item_id;
    const known = id ? this.#byId.get(id) : undefined;
    const isRepeated =
      known !== undefined && fits(known, data) && known === this.#atIndex(place, known);
    return isRepeated ? known : this.open(place, data);
  }

  /** Items that no event has ended. */
  get unfinished(): readonly Item[] {
    return this.#items.filter(({ isFinished }) => !isFinished);
  }

  #atIndex({ output_index: index }: Place, otherwise: Item): Item | undefined {
    return typeof index === "number" ? this.#byIndex.get(index) : otherwise;
  }

  open(place: Place, data: OutputItem): Item {
    const item: Item = {
      key: `item:${this.#items.length}`,
      type: data.type,
      hasName: false,
      hasText: false,
      parts: new Map(),
      hasArguments: false,
      isFinished: false,
      partCount: 0,
      partsSeen: 0,
      arguments: undefined,
    };
    this.#items.push(item);
    if (typeof place.output_index === "number") this.#byIndex.set(place.output_index, item);
    const id = data.id ?? place.item_id;
    if (id) this.#byId.set(id, item);
    return item;
  }

  /**
   * Finds the item of an event, or creates it if no event announced it.
   *
   * @throws {ProviderError} `invalid_request` if several items match: a guess could mix up calls
   */
  find(place: Place, data: OutputItem): Item {
    const { output_index: index } = place;
    const byIndex = typeof index === "number" ? this.#byIndex.get(index) : undefined;
    if (byIndex !== undefined && fits(byIndex, data)) return byIndex;
    const id = place.item_id ?? data.id;
    const byId = id ? this.#byId.get(id) : undefined;
    if (byId !== undefined) return byId;
    if (typeof index === "number" && byIndex === undefined) return this.open(place, data);
    const open = this.#items.filter((item) => !item.isFinished && fits(item, data));
    const [only] = open;
    if (open.length > 1) {
      throw new ProviderError({
        code: "invalid_request",
        message:
          "The server streams several tool calls without saying which piece belongs to which",
      });
    }
    return only ?? this.open(place, data);
  }
}

function fits(item: Item, data: OutputItem): boolean {
  return item.type === undefined || data.type === undefined || item.type === data.type;
}
