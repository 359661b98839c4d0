import { createHash } from "node:crypto";

/** The id of a blob, derived from its bytes. */
export function blobId(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
