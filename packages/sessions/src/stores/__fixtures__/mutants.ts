import { setTimeout as delay } from "node:timers/promises";
import {
  type LeaseToken,
  type SessionKey,
  type SessionStore,
  SessionStoreError,
  type StoreLease,
} from "../../log/store/session-store.ts";
import { MemorySessionStore } from "../memory/memory-session-store.ts";

type Overrides = { [Name in keyof SessionStore]?: SessionStore[Name] };

/** A store with one fault, and the check that must detect it. */
export interface Mutant {
  readonly name: string;
  readonly catches: string;
  readonly make: () => SessionStore;
}

/** A correct store with some methods replaced. */
function altered(override: (good: MemorySessionStore) => Overrides): () => SessionStore {
  return () => {
    const good = new MemorySessionStore();
    const methods = override(good);
    return new Proxy(good, {
      get: (target, name) => {
        const own = (methods as Record<PropertyKey, unknown>)[name];
        if (own !== undefined) return own;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
}

/** A correct store that interprets keys differently. */
function respelt(spell: (key: SessionKey) => SessionKey): () => SessionStore {
  return altered((good) => ({
    acquire: async (key, ttlMs, owner) => ({
      ...(await good.acquire(spell(key), ttlMs, owner)),
      key,
    }),
    renew: async (lease, ttlMs) => ({
      ...(await good.renew({ ...lease, key: spell(lease.key) }, ttlMs)),
      key: lease.key,
    }),
    release: (lease) => good.release({ ...lease, key: spell(lease.key) }),
    append: (key, entries, lease) => good.append(spell(key), entries, lease),
    load: (key) => good.load(spell(key)),
    delete: (key, lease) => good.delete(spell(key), lease),
    putBlob: (key, bytes) => good.putBlob(spell(key), bytes),
    getBlob: (key, id) => good.getBlob(spell(key), id),
  }));
}

function each(key: SessionKey, change: (text: string) => string): SessionKey {
  const { projectKey, sessionId, subpath } = key;
  return {
    projectKey: change(projectKey),
    sessionId: change(sessionId),
    ...(subpath === undefined ? {} : { subpath: change(subpath) }),
  };
}

const textOf = (key: SessionKey): string => JSON.stringify(key);

/** Changes the JSON text of stored entries. */
function rewritten(change: (json: string) => string): () => SessionStore {
  return altered((good) => ({
    append: (key, entries, lease) => {
      const changed = entries.map((entry) => JSON.parse(change(JSON.stringify(entry))) as object);
      return good.append(key, changed, lease);
    },
  }));
}

const entryMutants: readonly Mutant[] = [
  {
    name: "a store that begins unknown sessions as empty lists",
    catches: "an unknown session loads as null",
    make: altered((good) => ({ load: async (key) => (await good.load(key)) ?? [] })),
  },
  {
    name: "a store that drops NUL",
    catches: "entries come back deep-equal",
    make: rewritten((json) => json.replaceAll("\\u0000", "")),
  },
  {
    name: "a store that replaces lone surrogates",
    catches: "entries come back deep-equal",
    make: rewritten((json) => json.replace(/\\ud[89a-f][0-9a-f]{2}/gi, "\ufffd")),
  },
  {
    name: "a store that loses __proto__",
    catches: "entries come back deep-equal",
    make: altered((good) => ({
      append: (key, entries, lease) => {
        const copied = entries.map((entry) => Object.assign({}, entry) as object);
        return good.append(key, copied, lease);
      },
    })),
  },
  {
    name: "a store that normalises text",
    catches: "entries come back deep-equal",
    make: rewritten((json) => json.normalize("NFC")),
  },
  {
    name: "a store that keeps the caller's objects",
    catches: "entries are copied in and out",
    make: altered((good) => {
      const kept = new Map<string, object[]>();
      return {
        append: async (key, entries, lease) => {
          await good.append(key, entries, lease);
          kept.set(textOf(key), [...(kept.get(textOf(key)) ?? []), ...entries]);
        },
        load: async (key) => (kept.get(textOf(key)) ?? null) as never,
      };
    }),
  },
  {
    name: "a store whose small batches overtake large ones",
    catches: "batches are stored in the order of the calls",
    make: altered((good) => ({
      append: async (key, entries, lease) => {
        await delay(entries.length * 3);
        await good.append(key, entries, lease);
      },
    })),
  },
  {
    name: "a store that appends entry by entry",
    catches: "readers see whole batches",
    make: altered((good) => ({
      append: async (key, entries, lease) => {
        for (const entry of entries) {
          await good.append(key, [entry], lease);
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    })),
  },
  {
    name: "a store that keeps entries twice",
    catches: "an entry whose id the session has is left out",
    make: altered((good) => {
      let count = 0;
      const ids = new Map<string, string>();
      const unique = (id: unknown) => {
        const own = `${id} ${count++}`;
        ids.set(own, String(id));
        return own;
      };
      return {
        append: (key, entries, lease) => {
          const renamed = entries.map((entry) => ("id" in entry ? { ...entry, id: unique(entry.id) } : entry));
          return good.append(key, renamed, lease);
        },
        load: async (key) => {
          const entries = await good.load(key);
          return (
            entries?.map((entry) => ("id" in entry ? { ...entry, id: ids.get(String(entry.id)) } : entry)) ?? null
          );
        },
      };
    }),
  },
  {
    name: "a store that drops a batch with a known entry",
    catches: "an entry whose id the session has is left out",
    make: altered((good) => ({
      append: async (key, entries, lease) => {
        const known = new Set((await good.load(key))?.map(({ id }) => id));
        const hasKnown = entries.some((entry) => "id" in entry && known.has(entry.id));
        await good.append(key, hasKnown ? [] : entries, lease);
      },
    })),
  },
  {
    name: "a store whose ids are unique over all sessions",
    catches: "ids count per session",
    make: altered((good) => {
      const owners = new Map<unknown, string>();
      return {
        append: (key, entries, lease) => {
          const own = entries.filter((entry) => {
            if (!("id" in entry)) return true;
            const owner = owners.get(entry.id) ?? textOf(key);
            owners.set(entry.id, owner);
            return owner === textOf(key);
          });
          return good.append(key, own, lease);
        },
      };
    }),
  },
  {
    name: "a store that keeps the first 2000 entries of a batch",
    catches: "a large batch is stored as a whole",
    make: altered((good) => ({
      append: (key, entries, lease) => good.append(key, entries.slice(0, 2000), lease),
    })),
  },
];

/** Changes tokens of a correct store on the way out, and back on the way in. */
function retokened(
  token: (given: number, key: SessionKey) => number,
): () => SessionStore {
  return altered((good) => {
    const real = new Map<string, number>();
    const name = (key: SessionKey, shown: number) => `${textOf(key)} ${shown}`;
    const back = (key: SessionKey, { token: shown }: LeaseToken) => ({
      token: real.get(name(key, shown)) ?? -1,
    });
    return {
      acquire: async (key, ttlMs, owner) => {
        const lease = await good.acquire(key, ttlMs, owner);
        const shown = token(lease.token, key);
        real.set(name(key, shown), lease.token);
        return { ...lease, token: shown };
      },
      renew: async (lease, ttlMs) => {
        const renewed = await good.renew({ ...lease, ...back(lease.key, lease) }, ttlMs);
        return { ...renewed, token: lease.token };
      },
      release: (lease) => good.release({ ...lease, ...back(lease.key, lease) }),
      append: (key, entries, lease) => good.append(key, entries, back(key, lease)),
      delete: (key, lease) => good.delete(key, lease && back(key, lease)),
    };
  });
}

const leaseMutants: readonly Mutant[] = [
  {
    name: "a store that lets the same owner in again",
    catches: "a living lease keeps everyone out",
    make: altered((good) => {
      const held = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const mine = held.get(textOf(key));
          if (mine !== undefined && mine.owner === owner) await good.release(mine);
          const lease = await good.acquire(key, ttlMs, owner);
          held.set(textOf(key), lease);
          return lease;
        },
      };
    }),
  },
  {
    name: "a store that looks first and takes later",
    catches: "one of many that ask at once gets the lease",
    make: altered((good) => {
      const held = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const mine = held.get(textOf(key));
          await delay(5);
          if (mine === undefined) {
            const other = held.get(textOf(key));
            if (other !== undefined) await good.release(other);
          }
          const lease = await good.acquire(key, ttlMs, owner);
          held.set(textOf(key), lease);
          return lease;
        },
        release: async (lease) => {
          held.delete(textOf(lease.key));
          await good.release(lease);
        },
      };
    }),
  },
  {
    name: "a store with one lease for a whole session",
    catches: "leases of different keys are independent",
    make: altered((good) => {
      const session = ({ projectKey, sessionId }: SessionKey) => ({ projectKey, sessionId });
      return {
        acquire: async (key, ttlMs, owner) => ({
          ...(await good.acquire(session(key), ttlMs, owner)),
          key,
        }),
      };
    }),
  },
  {
    name: "a store whose tokens are times",
    catches: "tokens rise over release",
    make: retokened(() => Math.floor(Date.now() / 1000)),
  },
  {
    name: "a store whose tokens begin at zero",
    catches: "a lease says what it is",
    make: retokened((token) => token - 1),
  },
  {
    name: "a store that forgets tokens with the session",
    catches: "tokens rise over delete",
    make: altered((good) => {
      const lives = new Map<string, number>();
      const named = (key: SessionKey) => ({
        ...key,
        projectKey: `${key.projectKey} ${lives.get(textOf(key)) ?? 0}`,
      });
      return {
        acquire: async (key, ttlMs, owner) => ({
          ...(await good.acquire(named(key), ttlMs, owner)),
          key,
        }),
        renew: (lease, ttlMs) => good.renew({ ...lease, key: named(lease.key) }, ttlMs),
        release: (lease) => good.release({ ...lease, key: named(lease.key) }),
        append: (key, entries, lease) => good.append(named(key), entries, lease),
        load: (key) => good.load(named(key)),
        delete: async (key, lease) => {
          await good.delete(named(key), lease);
          lives.set(textOf(key), (lives.get(textOf(key)) ?? 0) + 1);
        },
      };
    }),
  },
  {
    name: "a store that ends leases when their time is over",
    catches: "running out alone does not end a lease",
    make: altered((good) => {
      const ends = new Map<string, number>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          ends.set(textOf(key), lease.expiresAt);
          return lease;
        },
        append: async (key, entries, lease) => {
          if ((ends.get(textOf(key)) ?? 0) < Date.now()) throw new SessionStoreError("lease_lost");
          await good.append(key, entries, lease);
        },
      };
    }),
  },
  {
    name: "a store whose leases never run out",
    catches: "tokens rise over expiry",
    make: altered((good) => ({
      acquire: (key, _ttlMs, owner) => good.acquire(key, 10_000_000, owner),
    })),
  },
  {
    name: "a store whose renewals do nothing",
    catches: "a renewed lease lives on",
    make: altered((good) => ({
      renew: async (lease, ttlMs) => ({ ...lease, expiresAt: Date.now() + ttlMs }),
      acquire: (key, ttlMs, owner) => good.acquire(key, ttlMs, owner),
    })),
  },
  {
    name: "a store that renews what was released",
    catches: "a released lease is over",
    make: altered((good) => ({
      renew: (lease, ttlMs) =>
        good.renew(lease, ttlMs).catch(() => ({ ...lease, expiresAt: Date.now() + ttlMs })),
    })),
  },
  {
    name: "a store whose release takes any lease of the key",
    catches: "a released lease is over",
    make: altered((good) => {
      const newest = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          newest.set(textOf(key), lease);
          return lease;
        },
        release: (lease) => good.release(newest.get(textOf(lease.key)) ?? lease),
      };
    }),
  },
  {
    name: "a store that takes tokens to come",
    catches: "only the newest token writes",
    make: altered((good) => {
      const newest = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          newest.set(textOf(key), lease);
          return lease;
        },
        append: (key, entries, lease) => {
          const known = newest.get(textOf(key));
          return good.append(key, entries, known && lease.token > known.token ? known : lease);
        },
      };
    }),
  },
  {
    name: "a store without fencing",
    catches: "a stale writer stores nothing among newer entries",
    make: altered((good) => {
      const newest = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          newest.set(textOf(key), lease);
          return lease;
        },
        append: (key, entries, lease) => good.append(key, entries, newest.get(textOf(key)) ?? lease),
      };
    }),
  },
  {
    name: "a store that stores first and refuses afterwards",
    catches: "a stale writer stores nothing among newer entries",
    make: altered((good) => {
      const newest = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          newest.set(textOf(key), lease);
          return lease;
        },
        append: async (key, entries, lease) => {
          const known = newest.get(textOf(key));
          await good.append(key, entries, known ?? lease);
          if (known?.token !== lease.token) throw new SessionStoreError("lease_lost");
        },
      };
    }),
  },
  {
    name: "a store whose errors have no code",
    catches: "a living lease keeps everyone out",
    make: altered((good) => ({
      acquire: (key, ttlMs, owner) =>
        good.acquire(key, ttlMs, owner).catch(() => {
          throw new Error("lease_held");
        }),
    })),
  },
];

const keyMutants: readonly Mutant[] = [
  {
    name: "a store that ignores case",
    catches: "session ids are never mixed",
    make: respelt((key) => each(key, (text) => text.toLowerCase())),
  },
  {
    name: "a store that trims names",
    catches: "session ids are never mixed",
    make: respelt((key) => each(key, (text) => text.trim())),
  },
  {
    name: "a store that normalises names",
    catches: "subpaths are never mixed",
    make: respelt((key) => each(key, (text) => text.normalize())),
  },
  {
    name: "a store that cuts long names",
    catches: "project keys are never mixed",
    make: respelt((key) => each(key, (text) => text.slice(0, 255))),
  },
  {
    name: "a store that joins the parts of a key",
    catches: "the parts of a key stay apart",
    make: respelt(({ projectKey, sessionId, subpath }) => ({
      projectKey: [projectKey, sessionId, subpath].filter((part) => part !== undefined).join("/"),
      sessionId: "x",
    })),
  },
  {
    name: "a store that stores names as UTF-8",
    catches: "session ids are never mixed",
    make: respelt((key) => each(key, (text) => Buffer.from(text).toString())),
  },
  {
    name: "a store that lists every project",
    catches: "list() has the sessions of one project",
    make: altered((good) => {
      const projects = new Set<string>();
      return {
        acquire: (key, ttlMs, owner) => {
          projects.add(key.projectKey);
          return good.acquire(key, ttlMs, owner);
        },
        list: async () => (await Promise.all([...projects].map((key) => good.list(key)))).flat(),
      };
    }),
  },
  {
    name: "a store that lists times in seconds",
    catches: "list() has the sessions of one project",
    make: altered((good) => ({
      list: async (projectKey) => {
        const sessions = await good.list(projectKey);
        return sessions.map((one) => ({ ...one, modifiedAt: Math.floor(one.modifiedAt / 1000) }));
      },
    })),
  },
];

const otherMutants: readonly Mutant[] = [
  {
    name: "a store that keeps blobs as text",
    catches: "blobs come back byte for byte under their hash",
    make: altered((good) => ({
      getBlob: async (key, id) => {
        const bytes = await good.getBlob(key, id);
        return bytes && new TextEncoder().encode(new TextDecoder().decode(bytes));
      },
    })),
  },
  {
    name: "a store with random blob ids",
    catches: "blobs come back byte for byte under their hash",
    make: altered((good) => ({
      putBlob: async (key, bytes) => ({
        ...(await good.putBlob(key, bytes)),
        id: `sha256:${"0".repeat(64)}`,
      }),
    })),
  },
  {
    name: "a store with one shelf of blobs for everybody",
    catches: "an unknown blob is null",
    make: altered((good) => {
      const shelf = { projectKey: "shelf", sessionId: "shelf" };
      return {
        putBlob: (_key, bytes) => good.putBlob(shelf, bytes),
        getBlob: (_key, id) => good.getBlob(shelf, id),
      };
    }),
  },
  {
    name: "a store that leaves subpaths behind",
    catches: "delete takes entries, subpaths and blobs along",
    make: respelt(({ projectKey, sessionId, subpath }) => ({
      projectKey,
      sessionId: JSON.stringify([sessionId, subpath]),
    })),
  },
  {
    name: "a store that leaves blobs behind",
    catches: "delete takes entries, subpaths and blobs along",
    make: altered((good) => {
      const blobs = new MemorySessionStore();
      return {
        putBlob: (key, bytes) => blobs.putBlob(key, bytes),
        getBlob: (key, id) => blobs.getBlob(key, id),
        delete: (key, lease) => good.delete(key, lease),
      };
    }),
  },
  {
    name: "a store that deletes the session with its subpath",
    catches: "deleting a subpath leaves its session",
    make: altered((good) => ({
      delete: ({ projectKey, sessionId }, lease) => good.delete({ projectKey, sessionId }, lease),
    })),
  },
  {
    name: "a store that deletes by prefix",
    catches: "delete takes entries, subpaths and blobs along",
    make: altered((good) => ({
      delete: async (key, lease) => {
        await good.delete(key, lease);
        for (const { sessionId } of await good.list(key.projectKey)) {
          if (sessionId.startsWith(key.sessionId)) await good.delete({ ...key, sessionId });
        }
      },
    })),
  },
  {
    name: "a store that deletes once",
    catches: "a session may be deleted twice",
    make: altered((good) => ({
      delete: async (key, lease) => {
        if ((await good.load(key)) === null) throw new SessionStoreError("not_found");
        await good.delete(key, lease);
      },
    })),
  },
  {
    name: "a store that anybody deletes from",
    catches: "while a lease lives, only its holder deletes",
    make: altered((good) => {
      const newest = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          newest.set(textOf(key), lease);
          return lease;
        },
        delete: (key) => good.delete(key, newest.get(textOf(key))),
      };
    }),
  },
  {
    name: "a store that never deletes what was once leased",
    catches: "a lease that ran out does not keep a session from being deleted",
    make: altered((good) => {
      const open = new Map<string, StoreLease>();
      return {
        acquire: async (key, ttlMs, owner) => {
          const lease = await good.acquire(key, ttlMs, owner);
          open.set(textOf(key), lease);
          return lease;
        },
        release: async (lease) => {
          open.delete(textOf(lease.key));
          await good.release(lease);
        },
        delete: async (key, lease) => {
          const held = open.get(textOf(key));
          if (held !== undefined && held.token !== lease?.token) throw new SessionStoreError("lease_held");
          await good.delete(key, lease);
        },
      };
    }),
  },
];

/** Stores that are each broken in one way. */
export const mutants: readonly Mutant[] = [
  ...entryMutants,
  ...leaseMutants,
  ...keyMutants,
  ...otherMutants,
];
