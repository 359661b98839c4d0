import type { SessionKey, StoreEntry, StoreLease } from "../../log/store/session-store.ts";
import { type Check, ensure, rejects, same } from "./bench.ts";

/** Only one writer at a time, even after a writer was paused. */
export const leaseChecks: readonly Check[] = [
  {
    name: "a lease says what it is",
    run: async (bench, key) => {
      const first = await bench.store.acquire(key, 60_000, "me");
      isLease(first, key, "acquire()");
      same(first.owner, "me", "acquire() returned another owner");
      const renewed = await bench.store.renew(first, 120_000);
      isLease(renewed, key, "renew()");
      same(renewed.token, first.token, "renew() changed the token");
      const gained = renewed.expiresAt - first.expiresAt;
      ensure(gained > 50_000 && gained < 100_000, "renew() did not last for its ttlMs from now");
      await bench.store.release(renewed);
    },
  },
  {
    name: "a living lease keeps everyone out",
    run: async (bench, key) => {
      const lease = await bench.store.acquire(key, 60_000, "me");
      for (const owner of ["another", "me", undefined]) {
        await rejects("lease_held", bench.store.acquire(key, 60_000, owner), "a second acquire()");
      }
      await bench.store.append(key, [bench.entry()], lease);
      await bench.store.release(lease);
    },
  },
  {
    name: "one of many that ask at once gets the lease",
    run: async (bench, key) => {
      const tries = Array.from({ length: 12 }, () => bench.acquire(key));
      const settled = await Promise.allSettled(tries);
      const won = settled.filter(({ status }) => status === "fulfilled").length;
      ensure(won === 1, `${won} of 12 got the lease`);
      for (const [index, { status }] of settled.entries()) {
        if (status === "rejected") {
          await rejects("lease_held", tries[index] as Promise<StoreLease>, "a losing acquire()");
        }
      }
    },
  },
  {
    name: "leases of different keys are independent",
    run: async (bench) => {
      const keys = [bench.key("one"), bench.key("two"), bench.key("one", "part")];
      const leases: StoreLease[] = [];
      for (const key of keys) leases.push(await bench.acquire(key));
      for (const lease of leases) await bench.store.release(lease);
    },
  },
  {
    name: "tokens rise over release",
    run: async (bench, key) => {
      const first = await bench.acquire(key);
      await bench.store.release(first);
      const second = await bench.acquire(key);
      rises(first, second, "a release");
      await bench.store.release(second);
    },
  },
  {
    name: "tokens rise over expiry",
    run: async (bench, key) => {
      const first = await bench.acquireBriefly(key);
      await bench.outlast();
      const second = await bench.acquire(key);
      rises(first, second, "an expiry");
      await bench.isRefused(key, first, "an append with a token that was overtaken");
      await rejects(
        "lease_lost",
        bench.store.renew(first, 60_000),
        "renew() of an overtaken lease",
      );
      await bench.store.append(key, [bench.entry()], second);
      await bench.store.release(second);
    },
  },
  {
    name: "tokens rise over delete",
    run: async (bench, key) => {
      const first = await bench.acquire(key);
      await bench.store.append(key, [bench.header(key), bench.entry()], first);
      await bench.store.release(first);
      const second = await bench.acquire(key);
      await bench.store.release(second);
      await bench.store.delete(key);
      const third = await bench.acquire(key);
      rises(second, third, "a delete");
      await bench.isRefused(key, second, "an append with a token from before a delete");
      await bench.store.release(third);
    },
  },
  {
    name: "running out alone does not end a lease",
    run: async (bench, key) => {
      const lease = await bench.acquireBriefly(key);
      await bench.outlast();
      const entry = bench.entry();
      await bench.store.append(key, [entry], lease);
      await bench.holds(key, [entry]);
      const renewed = await bench.store.renew(lease, 60_000);
      await rejects("lease_held", bench.acquire(key), "acquire() of a lease that was renewed late");
      await bench.store.release(renewed);
    },
  },
  {
    name: "a renewed lease lives on",
    run: async (bench, key) => {
      const lease = await bench.acquireBriefly(key);
      const renewed = await bench.store.renew(lease, 60_000);
      await bench.outlast();
      await rejects("lease_held", bench.acquire(key), "acquire() of a renewed lease");
      await bench.store.append(key, [bench.entry()], lease);
      await bench.store.release(renewed);
    },
  },
  {
    name: "a released lease is over",
    run: async (bench, key) => {
      const lease = await bench.acquire(key);
      const entry = bench.entry();
      await bench.store.append(key, [entry], lease);
      await bench.store.release(lease);
      await bench.store.release(lease);
      await bench.isRefused(key, lease, "an append with a released token");
      await rejects("lease_lost", bench.store.renew(lease, 60_000), "renew() of a released lease");
      const next = await bench.acquire(key);
      await bench.store.release(lease);
      await rejects("lease_held", bench.acquire(key), "acquire() after an old lease was released");
      await bench.store.append(key, [bench.entry()], next);
      await bench.store.release(next);
    },
  },
  {
    name: "only the newest token writes",
    run: async (bench, key) => {
      const free: StoreEntry[] | null = await bench.store.load(key);
      same(free, null, "a new session has entries");
      await bench.isRefused(key, { token: 1 }, "an append without any lease");
      const lease = await bench.acquire(key);
      await bench.isRefused(key, { token: lease.token + 1 }, "an append with a token to come");
      await bench.isRefused(key, { token: lease.token - 1 }, "an append with an older token");
      await bench.store.append(key, [bench.entry()], lease);
      const foreign = await bench.acquire(bench.key());
      await bench.store.release(foreign);
      await bench.store.release(lease);
    },
  },
  {
    name: "a stale writer stores nothing among newer entries",
    run: async (bench, key) => {
      const stale = await bench.acquireBriefly(key);
      const begun = bench.entries(2);
      await bench.store.append(key, begun, stale);
      await bench.outlast();
      const lease = await bench.acquire(key);
      const written = bench.entries(3);
      const late = bench.store.append(key, [...begun, ...bench.entries(2)], stale);
      await Promise.all([
        bench.store.append(key, written, lease),
        rejects("lease_lost", late, "an append of a stale writer"),
      ]);
      await bench.holds(key, [...begun, ...written]);
      await bench.store.release(lease);
    },
  },
];

function isLease(lease: StoreLease, key: SessionKey, from: string): void {
  const isToken = Number.isSafeInteger(lease.token) && lease.token > 0;
  ensure(isToken, `${from} returned a token that is not a positive integer`);
  same({ ...lease.key }, key, `${from} returned another key`);
  // By the store's clock, which may differ from the local one.
  const isTime = Number.isFinite(lease.expiresAt) && lease.expiresAt > 1e12;
  ensure(isTime, `${from} returned an expiresAt that is not in milliseconds since the epoch`);
}

function rises(before: StoreLease, after: StoreLease, over: string): void {
  const tokens = `${before.token}, then ${after.token}`;
  ensure(after.token > before.token, `the token did not rise over ${over}: ${tokens}`);
}
