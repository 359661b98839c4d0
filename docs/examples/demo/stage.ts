import { setTimeout as sleep } from "node:timers/promises";

/** How the demo is shown. */
export interface Stage {
  /** Whether somebody watches: text comes at a readable pace, and lines may be drawn again. */
  readonly isLive: boolean;
  /** How many characters fit into a line. */
  readonly columns: number;
  /** Gives a viewer time to read; no time at all when nobody watches. */
  pause(milliseconds: number): Promise<void>;
}

const usualColumns = 100;

/**
 * Nobody watches a pipe or a file: there everything is printed as soon as it is known, line by line.
 *
 * @param isForced - as on a terminal, for a recording
 */
export function openStage(isForced: boolean): Stage {
  const { isTTY, columns = usualColumns } = process.stdout;
  const isLive = isForced || (isTTY === true && process.env.TERM !== "dumb");
  return {
    isLive,
    columns,
    pause: async (milliseconds) => {
      if (isLive) await sleep(milliseconds);
    },
  };
}
