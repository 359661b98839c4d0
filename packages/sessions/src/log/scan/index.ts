/**
 * The door of scanning: code outside this folder imports this file only.
 *
 * A session file is stepped over as bytes. `EntryScan` notes what each line is and where its parts lie, without
 * parsing it, in `EntryColumns`; `textIn` and the others read single members when they are asked for
 * ([why](../../../../../docs/decisions/0026-messages-are-read-when-needed.md)).
 */
export type { LinePlace, ScannedLine, ScannedMessage } from "./entry-columns.ts";
export { EntryColumns } from "./entry-columns.ts";
export { EntryScan } from "./entry-scan.ts";
export { IdTable, shortIdOf, shortKey } from "./id-table.ts";
export { unsure } from "./json-bytes.ts";
export { type ScannedRole, scannedRoles } from "./scanned-role.ts";
export { textIn } from "./text-in.ts";
export { userTextIn } from "./user-text.ts";
