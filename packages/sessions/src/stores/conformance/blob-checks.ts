import { blobId } from "../common/blob-id.ts";
import { type Check, ensure, same } from "./bench.ts";

const samples: readonly Uint8Array[] = [
  Uint8Array.from({ length: 256 }, (_, index) => index),
  new Uint8Array(0),
  new TextEncoder().encode("plain text"),
  Uint8Array.from({ length: 2_000_000 }, (_, index) => (index * 31) % 251),
];

/** Blobs are named by their hash and belong to one key. */
export const blobChecks: readonly Check[] = [
  {
    name: "blobs come back byte for byte under their hash",
    run: async (bench, key) => {
      for (const bytes of samples) {
        const stored = await bench.store.putBlob(key, bytes);
        same(
          { id: stored.id, size: stored.size },
          { id: blobId(bytes), size: bytes.length },
          "putBlob()",
        );
        isSame(await bench.store.getBlob(key, stored.id), bytes);
        const again = await bench.store.putBlob(key, bytes);
        same(again.id, stored.id, "putBlob() of the same bytes");
        isSame(await bench.store.getBlob(key, stored.id), bytes);
      }
    },
  },
  {
    name: "an unknown blob is null",
    run: async (bench, key) => {
      const { id } = await bench.store.putBlob(key, new Uint8Array([1]));
      const unknown = `${id.slice(0, -4)}${id.endsWith("0000") ? "1111" : "0000"}`;
      same(await bench.store.getBlob(key, unknown), null, "getBlob() of an unknown id");
      same(await bench.store.getBlob(bench.key(), id), null, "getBlob() of another session's blob");
    },
  },
  {
    name: "blobs are copied in and out",
    run: async (bench, key) => {
      const bytes = Uint8Array.from([1, 2, 3]);
      const { id } = await bench.store.putBlob(key, bytes);
      bytes[0] = 9;
      const read = await bench.store.getBlob(key, id);
      isSame(read, Uint8Array.from([1, 2, 3]));
      if (read !== null) read[1] = 9;
      isSame(await bench.store.getBlob(key, id), Uint8Array.from([1, 2, 3]));
    },
  },
];

function isSame(actual: Uint8Array | null, expected: Uint8Array): void {
  ensure(actual instanceof Uint8Array, "getBlob() did not return the bytes");
  const isEqual =
    actual.length === expected.length && actual.every((byte, at) => byte === expected[at]);
  ensure(isEqual, "getBlob() returned other bytes than were stored");
}
