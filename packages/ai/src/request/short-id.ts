/**
 * Shortens an id to `limit` characters. Ids that differ only in the removed part stay different, because a
 * shortened id ends with a hash of the whole id.
 */
export function boundedId(id: string, limit: number): string {
  if (id.length <= limit) return id;
  const hash = hashText(id);
  return `${id.slice(0, limit - hash.length - 1)}-${hash}`;
}

/** Replaces characters that vendors refuse in ids. */
export function plainId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** A short stable hash in letters and digits (two rounds of FNV-1a, 32 bits each). */
export function hashText(text: string): string {
  return `${fnv(text, 0x811c9dc5)}${fnv(text, 0x9747b28c)}`;
}

function fnv(text: string, seed: number): string {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36).padStart(7, "0");
}
