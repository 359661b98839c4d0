import type { OptionTable } from "./option-row.ts";

export const storeOptions = {
  store: {
    value: "url|module",
    isNeverEmpty: true,
    help: "Store for sessions: redis://…, postgres://…, or a module",
  },
  "project-key": { help: "Project in the store; by default the folder's, as for files" },
  "lease-ms": {
    value: "ms",
    help: "Lease of a session in the store, as the setting session.leaseMs",
  },
} as const satisfies OptionTable;
