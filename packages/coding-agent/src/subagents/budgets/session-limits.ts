import type { BudgetLimits, OnExceeded } from "@tau-agent/rpc-protocol";
import { type SettingsStore, SparseMap } from "@tau-agent/system";
import { type Dimension, dimensions, type LimitName, limitSettings } from "./dimensions.ts";

/** Limits to set, and names of limits to remove; others stay. */
export type BudgetChange = BudgetLimits & {
  readonly clear?: LimitName[] | undefined;
  readonly onExceeded?: OnExceeded | undefined;
};

/** The limits of a session: those set for it, or else those of the settings. */
export class SessionLimits {
  readonly #settings: SettingsStore;
  /** Limits set for this session; null removes the limit from the settings. */
  readonly #given = new SparseMap<LimitName, number | null>();
  #onExceeded: OnExceeded | undefined;

  constructor(settings: SettingsStore) {
    this.#settings = settings;
  }

  get onExceeded(): OnExceeded {
    return this.#onExceeded ?? this.#settings.get("task.budget.onExceeded");
  }

  get all(): BudgetLimits {
    const limits: BudgetLimits = {};
    for (const { limit } of dimensions) {
      const value = this.get(limit);
      if (value !== undefined) limits[limit] = value;
    }
    return limits;
  }

  /** One limit; undefined if there is none. */
  get(name: LimitName): number | undefined {
    const given = this.#given.get(name);
    if (given !== undefined) return given ?? undefined;
    return this.#settings.get(limitSettings[name]);
  }

  /** Whether the used amount exceeds the limit. */
  isExceeded({ limit, isCount }: Dimension, used: number): boolean {
    const value = this.get(limit);
    if (value === undefined) return false;
    return isCount ? used > value : used >= value;
  }

  /** Whether the limit allows more than the used amount. */
  hasRoom({ limit }: Dimension, used: number): boolean {
    const value = this.get(limit);
    return value === undefined || used < value;
  }

  /** Sets and removes limits; returns the dimensions whose limit has changed. */
  change(limits: BudgetChange): Dimension[] {
    this.#onExceeded = limits.onExceeded ?? this.#onExceeded;
    return dimensions.filter(({ limit }) => {
      const value = limits.clear?.includes(limit) ? null : limits[limit];
      if (value === undefined) return false;
      const before = this.get(limit);
      this.#given.set(limit, value);
      return this.get(limit) !== before;
    });
  }
}
