/** A 64-bit digest of a text; different texts almost certainly have different digests. */
export type Digest = readonly [number, number];

/** The digest of a text. Not for security: it is easy to construct another text with the same digest. */
export function digestOf(text: string): Digest {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  return finish(low, high);
}

/** The digest of a sequence that ends with `next`, given the digest of the preceding items. */
export function chain([low, high]: Digest, next: Digest): Digest {
  return finish(
    Math.imul(low ^ next[0], 0x9e3779b1) ^ Math.imul(next[1], 0x85ebca6b),
    Math.imul(high ^ next[1], 0x5f356495) ^ Math.imul(next[0], 0xc2b2ae35),
  );
}

export function keyOf([low, high]: Digest): string {
  return `${low >>> 0}.${high >>> 0}`;
}

function finish(low: number, high: number): Digest {
  const first =
    Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  const second =
    Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return [first, second];
}
