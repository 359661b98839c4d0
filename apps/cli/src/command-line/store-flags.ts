/** What the command line says of a store for sessions. */
export interface StoreOptions {
  /** A URL, or a module that makes a store. */
  store?: string;
  projectKey?: string;
  leaseMs?: string;
}

/** A flag of this group; see the table of all flags. */
interface StoreFlag {
  readonly key: keyof StoreOptions;
  readonly kind: "value";
  readonly help: string;
}

/** The flags of sessions in a store, by their long names. */
export const storeFlags: Readonly<Record<string, StoreFlag>> = {
  store: {
    key: "store",
    kind: "value",
    help: "Store for sessions instead of files: redis://…, postgres://…, or a module",
  },
  "project-key": {
    key: "projectKey",
    kind: "value",
    help: "Project in the store; by default the folder's, as for files",
  },
  "lease-ms": {
    key: "leaseMs",
    kind: "value",
    help: "Lease of a session in the store, as the setting session.leaseMs",
  },
};
