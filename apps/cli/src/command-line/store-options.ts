import type { OptionRow } from "./option-row.ts";

export interface StoreOptions {
  /** A URL, or a module that makes a store. */
  store?: string;
  projectKey?: string;
  leaseMs?: string;
}

type StoreOptionTable = Readonly<Record<string, OptionRow & { readonly key: keyof StoreOptions }>>;

export const storeOptions: StoreOptionTable = {
  store: {
    key: "store",
    kind: "value",
    value: "url|module",
    isNeverEmpty: true,
    help: "Store for sessions: redis://…, postgres://…, or a module",
  },
  "project-key": {
    key: "projectKey",
    kind: "value",
    help: "Project in the store; by default the folder's, as for files",
  },
  "lease-ms": {
    key: "leaseMs",
    kind: "value",
    value: "ms",
    help: "Lease of a session in the store, as the setting session.leaseMs",
  },
};
