/** From this number of texts on, one pass for all of them is faster than a search for each. */
const minTexts = 16;
const minWindow = 8;
const maxWindow = 256;

/** Whether {@link eachOccurrence} is worth its passes. */
export function areMany(texts: readonly string[]): boolean {
  return texts.length >= minTexts;
}

/**
 * Reports where each of many texts occurs, with one pass over the content for each size of text
 * (Rabin and Karp's rolling hash) instead of one for each text.
 *
 * @param onFound - receives the index of the text; returning false ends the search for it
 */
export function eachOccurrence(
  content: string,
  texts: readonly string[],
  onFound: (index: number, at: number) => boolean,
): void {
  const byWindow = new Map<number, number[]>();
  for (const [index, { length }] of texts.entries()) {
    let window = length < minWindow ? 0 : minWindow;
    while (window > 0 && window * 2 <= Math.min(length, maxWindow)) window *= 2;
    byWindow.set(window, [...(byWindow.get(window) ?? []), index]);
  }
  for (const [window, indices] of byWindow) {
    if (window === 0) searchShort(content, { texts, indices, onFound });
    else searchWindow(content, window, { texts, indices, onFound });
  }
}

interface Wanted {
  readonly texts: readonly string[];
  readonly indices: readonly number[];
  readonly onFound: (index: number, at: number) => boolean;
}

/** A text of a few characters is found quickly, and so is its second occurrence. */
function searchShort(content: string, { texts, indices, onFound }: Wanted): void {
  for (const index of indices) {
    const text = texts[index] ?? "";
    if (text === "") continue;
    for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + 1)) {
      if (!onFound(index, at)) break;
    }
  }
}

function searchWindow(content: string, window: number, { texts, indices, onFound }: Wanted): void {
  if (content.length < window) return;
  const byHash = new Map<number, number[]>();
  // Most positions do not match; this array rules them out without a map lookup.
  const seen = new Uint8Array(1 << 16);
  for (const index of indices) {
    const hash = hashOf(texts[index] ?? "", window);
    byHash.set(hash, [...(byHash.get(hash) ?? []), index]);
    seen[hash & 0xffff] = 1;
  }
  let power = 1;
  for (let count = 1; count < window; count++) power = Math.imul(power, 31);
  let hash = hashOf(content, window);
  for (let at = 0; ; at++) {
    if (seen[hash & 0xffff] === 1) {
      const candidates = byHash.get(hash);
      const left = candidates?.filter(
        (index) => !content.startsWith(texts[index] ?? "", at) || onFound(index, at),
      );
      if (left !== undefined && left.length !== candidates?.length) byHash.set(hash, left);
    }
    if (at + window >= content.length) return;
    hash = Math.imul(hash - Math.imul(content.charCodeAt(at), power), 31);
    hash = (hash + content.charCodeAt(at + window)) | 0;
  }
}

function hashOf(text: string, length: number): number {
  let hash = 0;
  for (let at = 0; at < length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
