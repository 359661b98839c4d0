import { readdir } from "node:fs/promises";

/** One exchange in `<number>.json`; the bytes of the body are in `<number>.bin`. */
export interface Recording {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** Parsed if it was JSON. */
    readonly body: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** Sizes of the pieces in which the body arrived, in bytes. */
    readonly chunkBytes: readonly number[];
    /** Whether the body broke off or the client stopped reading. */
    readonly isCut: boolean;
  };
}

/** The names of the recordings in a directory, in order and without extensions. */
export async function listRecordings(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^\d+\.json$/.test(name))
    .map((name) => name.slice(0, -".json".length))
    .sort();
}
