/**
 * The door of scanning: code outside this folder imports this file only.
 *
 * Session files are scanned as bytes. `EntryScan` notes in `EntryColumns` what each line is and where its parts
 * are, without parsing it; `textIn` and the others read single members on demand
 * ([why](../../../../../docs/decisions/0026-messages-are-read-when-needed.md)).
 */
export type { LinePlace, ScannedLine, ScannedMessage } from "./entry-columns.ts";
export { EntryColumns } from "./entry-columns.ts";
export { EntryScan } from "./entry-scan.ts";
export { IdTable, shortIdOf, shortKey } from "./id-table.ts";
export { textIn, unsure } from "./json-bytes.ts";
export { type ScannedRole, scannedRoles } from "./scanned-role.ts";
export { userTextIn } from "./user-text.ts";
