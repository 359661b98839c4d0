import { type Check, rejects, same } from "./bench.ts";

/** Deleting removes everything of one session, and nothing of others, unless a host is writing it. */
export const deleteChecks: readonly Check[] = [
  {
    name: "delete takes entries, subpaths and blobs along",
    run: async (bench) => {
      const { store } = bench;
      const key = bench.key("one");
      const part = bench.key("one", "part");
      const near = bench.key("one more");
      const bytes = new Uint8Array([1, 2, 3]);
      const kept = await bench.write(near, bench.entries(1));
      await bench.write(key, bench.entries(2));
      await bench.write(part, bench.entries(2));
      const { id } = await store.putBlob(key, bytes);
      await store.putBlob(part, bytes);
      await store.putBlob(near, bytes);
      await store.delete(key);
      await bench.holds(key, null);
      await bench.holds(part, null);
      same(await store.getBlob(key, id), null, "a blob of a deleted session");
      same(await store.getBlob(part, id), null, "a blob of a deleted session's subpath");
      await bench.holds(near, kept);
      same((await store.getBlob(near, id))?.length, 3, "the blob of another session");
      const ids = (await store.list(bench.projectKey)).map(({ sessionId }) => sessionId);
      same(ids, ["one more"], "list() after delete()");
      await bench.holds(key, await bench.write(key, bench.entries(1)));
    },
  },
  {
    name: "deleting a subpath leaves its session",
    run: async (bench) => {
      const key = bench.key("one");
      const kept = await bench.write(key, bench.entries(1));
      const part = bench.key("one", "part");
      const other = bench.key("one", "part two");
      await bench.write(part, bench.entries(1));
      const also = await bench.write(other, bench.entries(1));
      await bench.store.delete(part);
      await bench.holds(part, null);
      await bench.holds(key, kept);
      await bench.holds(other, also);
    },
  },
  {
    name: "a session may be deleted twice",
    run: async (bench, key) => {
      await bench.store.delete(key);
      await bench.write(key, bench.entries(1));
      await bench.store.delete(key);
      await bench.store.delete(key);
      await bench.holds(key, null);
    },
  },
  {
    name: "while a lease lives, only its holder deletes",
    run: async (bench, key) => {
      const { store } = bench;
      const old = await bench.acquire(key);
      const entries = [bench.header(key), bench.entry()];
      await store.append(key, entries, old);
      await store.release(old);
      const lease = await bench.acquire(key);
      await rejects("lease_held", store.delete(key), "delete() without the lease");
      await rejects("lease_held", store.delete(key, old), "delete() with an older lease");
      await bench.holds(key, entries);
      await store.delete(key, lease);
      await bench.holds(key, null);
    },
  },
  {
    name: "a lease that ran out does not keep a session from being deleted",
    run: async (bench, key) => {
      const lease = await bench.acquireBriefly(key);
      await bench.store.append(key, [bench.entry()], lease);
      await bench.outlast();
      await bench.store.delete(key);
      await bench.holds(key, null);
    },
  },
];
