/**
 * Skips JSON in bytes without creating values. Every function takes an index to read at and returns the
 * index after what it read, or {@link unsure} if the bytes are not JSON, or not in the compact form of
 * `JSON.stringify`. The bytes must end with a line feed, which stops every loop.
 */

/** The line must be parsed to know its content. */
export const unsure = -1;

// The bundler writes these numbers into the loops that compare bytes, but only as long as this module imports
// nothing and each has a declaration of its own (row "100 000 entries: spawn").
const space = 0x20;
export const quote = 0x22;
const plus = 0x2b;
export const comma = 0x2c;
export const minus = 0x2d;
export const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
const lastAscii = 0x7f;

/** Deeper values are left to `JSON.parse`. */
const MAX_DEPTH = 100;

/** Characters that may follow a backslash, except `u`. */
const isEscape = flags('"\\/bfnrt');
const isHex = flags("0123456789abcdefABCDEF");

function flags(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

export function skipString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return unsure;
  let next = at + 1;
  for (;;) {
    // This loop takes a third of the time of the rows "100 000 entries: spawn, switch_session". Comparing is
    // faster than looking the byte up in a table.
    let byte = bytes[next] as number;
    while (byte >= space && byte !== quote && byte !== backslash) byte = bytes[++next] as number;
    if (byte === quote) return next + 1;
    if (byte !== backslash) return unsure;
    const escaped = bytes[next + 1] as number;
    if (isEscape[escaped] === 1) next += 2;
    else if (escaped === 0x75 && isHexAt(bytes, next + 2)) next += 6;
    else return unsure;
  }
}

function isHexAt(bytes: Uint8Array, at: number): boolean {
  for (let index = at; index < at + 4; index++) {
    if (isHex[bytes[index] as number] !== 1) return false;
  }
  return true;
}

/** Skips a string of ASCII characters without escapes, such as a name or an id. */
export function skipWord(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return unsure;
  let next = at + 1;
  let byte = bytes[next] as number;
  while (byte >= space && byte <= lastAscii && byte !== quote && byte !== backslash) {
    byte = bytes[++next] as number;
  }
  return byte === quote ? next + 1 : unsure;
}

export function skipNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] === minus ? at + 1 : at;
  let next = skipDigits(bytes, first);
  if (next === first || (bytes[first] === zero && next > first + 1)) return unsure;
  if (bytes[next] === dot) {
    const fraction = next + 1;
    next = skipDigits(bytes, fraction);
    if (next === fraction) return unsure;
  }
  if (bytes[next] === 0x65 || bytes[next] === 0x45) {
    const sign = bytes[next + 1];
    const exponent = sign === minus || sign === plus ? next + 2 : next + 1;
    next = skipDigits(bytes, exponent);
    if (next === exponent) return unsure;
  }
  return next;
}

function skipDigits(bytes: Uint8Array, at: number): number {
  let next = at;
  while ((bytes[next] as number) >= zero && (bytes[next] as number) <= nine) next++;
  return next;
}

/** The number between two indices of `bytes`, as found by {@link skipNumber}. */
export function numberIn(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  // Fifteen digits are exact; longer numbers are rare.
  for (let index = from; index < to; index++) {
    const byte = bytes[index] as number;
    if (byte < zero || byte > nine || to - from > 15) return Number(textIn(bytes, from, to));
    value = value * 10 + byte - zero;
  }
  return value;
}

export function isAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) {
    if (bytes[at + index] !== word[index]) return false;
  }
  return true;
}

const literals = [bytesOf("true"), bytesOf("false"), bytesOf("null")];

export function bytesOf(word: string): Uint8Array {
  return Uint8Array.from(word, (character) => character.charCodeAt(0));
}

export function skipValue(bytes: Uint8Array, at: number, depth = 0): number {
  const byte = bytes[at];
  if (byte === quote) return skipString(bytes, at);
  if (byte === openBrace || byte === openBracket) return skipMembers(bytes, at, depth + 1);
  const literal = literals.find((word) => word[0] === byte);
  if (literal === undefined) return skipNumber(bytes, at);
  return isAt(bytes, at, literal) ? at + literal.length : unsure;
}

export function skipObject(bytes: Uint8Array, at: number): number {
  return bytes[at] === openBrace ? skipMembers(bytes, at, 1) : unsure;
}

export function skipBoolean(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0x74 || bytes[at] === 0x66 ? skipValue(bytes, at) : unsure;
}

function skipMembers(bytes: Uint8Array, at: number, depth: number): number {
  if (depth > MAX_DEPTH) return unsure;
  const isObject = bytes[at] === openBrace;
  const close = isObject ? closeBrace : closeBracket;
  if (bytes[at + 1] === close) return at + 2;
  let next = at;
  do {
    next += 1;
    if (isObject) {
      next = skipString(bytes, next);
      if (next === unsure || bytes[next] !== colon) return unsure;
      next += 1;
    }
    next = skipValue(bytes, next, depth);
    if (next === unsure) return unsure;
  } while (bytes[next] === comma);
  return bytes[next] === close ? next + 1 : unsure;
}

export function textIn(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
