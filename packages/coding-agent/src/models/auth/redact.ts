import { redactSecrets as redactPatterns } from "@tau-agent/ai";

const mark = "[redacted]";
// Shorter values would blank out ordinary words; real keys are longer.
const minimumLength = 6;
// Anything else (a lone surrogate) cannot be encoded, nor be part of a URL.
const isPlain = /^[\x21-\x7e]+$/;
const urlPassword = /(?<=:\/\/[^\s/@:]{0,200}:)[^\s/@]+(?=@)/g;

/**
 * Redacts `secrets` anywhere in `text`, also URL-encoded, and everything that looks like a key:
 * vendor prefixes, bearer tokens, key headers and passwords in URLs.
 */
export function redactSecrets(text: string, secrets: Iterable<string> = []): string {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minimumLength)
    // A secret that contains another must go first, or its rest stays.
    .sort((a, b) => b.length - a.length);
  let result = text;
  for (const secret of known) {
    result = result.replaceAll(secret, mark);
    if (isPlain.test(secret)) result = result.replaceAll(encodeURIComponent(secret), mark);
  }
  return redactPatterns(result).replace(urlPassword, mark);
}
