import type { Read } from "../transport/reply.ts";
import type { Work } from "./reply-output.ts";

/**
 * `take` returns a chunk of a burst without a promise (row "text stream of 16 000 deltas"), and `read` one that is
 * waited for (rows `many-sessions`).
 */
export type ChunkIterator = AsyncIterator<unknown, undefined> & {
  take?(): unknown;
  readonly read?: Read<unknown>;
};

/** What becomes of the chunks of a reply. */
export interface ChunkReader {
  readonly onChunk: (chunk: unknown) => Work;
  /** Called when every chunk that has arrived is read. */
  readonly onPause: () => Work;
  /** Whether nothing more is read. */
  readonly hasEnded: () => boolean;
}

/** Reads chunks until they end, without a promise for each; calls one of the last two functions. */
export function eachChunk(
  chunks: ChunkIterator,
  { onChunk, onPause, hasEnded }: ChunkReader,
  resolve: () => void,
  reject: (error: unknown) => void,
): void {
  const read = chunks.read ?? ((...call) => void chunks.next().then(...call));

  function goOn(first?: unknown): void {
    try {
      for (let chunk = first ?? chunks.take?.(); !hasEnded(); chunk = chunks.take?.()) {
        const work = chunk === undefined ? onPause() : onChunk(chunk);
        if (work !== undefined) {
          work.then(() => goOn()).catch(reject);
          return;
        }
        if (chunk === undefined) {
          read(arrived, reject);
          return;
        }
      }
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  const arrived = ({ done, value }: IteratorResult<unknown, undefined>): void => {
    if (done) resolve();
    else goOn(value);
  };

  goOn();
}
