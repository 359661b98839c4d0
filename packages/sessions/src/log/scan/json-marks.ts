// This module imports nothing and declares each mark separately. Only then does the bundler put the
// numbers into the loops that compare bytes (row "100 000 entries: spawn").

/** The line must be parsed to know its content. */
export const unsure = -1;

export const space = 0x20;
export const quote = 0x22;
export const plus = 0x2b;
export const comma = 0x2c;
export const minus = 0x2d;
export const dot = 0x2e;
export const zero = 0x30;
export const nine = 0x39;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const lastAscii = 0x7f;
