import type { LogWriter } from "./log-writer.ts";

/** Writes nothing: the session is only in memory. */
export const memoryWriter: LogWriter = {
  path: undefined,
  reference: undefined,
  ownership: undefined,
  isBegun: true,
  begin: () => undefined,
  append: () => true,
  endTurn: () => undefined,
  check: () => undefined,
  stored: () => undefined,
  recover: () => undefined,
  close: () => undefined,
};
