import { redactSecrets as redactPatterns } from "@tau-agent/ai";

const mark = "[redacted]";
// Redacting shorter values would hit ordinary words; real keys are longer.
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
    // Redact a secret that contains another first, or its rest stays.
    .sort((a, b) => b.length - a.length);
  let result = text;
  for (const secret of known) {
    result = result.replaceAll(secret, mark);
    if (isPlain.test(secret)) result = result.replaceAll(encodeURIComponent(secret), mark);
  }
  return redactPatterns(result).replace(urlPassword, mark);
}
