// Including characters that change the direction of text or hide it.
const unwanted =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Lone surrogates, which vendors refuse. */
const halves = /\p{Surrogate}/gu;

/** A server's text without control characters, at most `maxLength` long. */
export function cleanText(text: string, maxLength: number): string {
  const clean = text.replace(halves, "\ufffd").replace(/\r\n?/g, "\n").replace(unwanted, "").trim();
  if (clean.length <= maxLength) return clean;
  return `${clean.slice(0, maxLength).replace(halves, "\ufffd")}…`;
}

/** The same on one line. */
export function cleanLine(text: string, maxLength: number): string {
  return cleanText(text.replace(/\s+/g, " "), maxLength);
}
