const mark = "[redacted]";
// Shorter values would blank out ordinary words; real keys are longer.
const minimumLength = 6;

const patterns: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gsk|xai|hf|ghp|gho|ghs|github_pat|nvapi|AIza)[-_]?[A-Za-z0-9_-]{20,}/g,
  /(?<=\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=\b(?:x-api-key|x-goog-api-key|api-key|apikey|api_key)["']?\s*[:=]\s*["']?)[^\s"',;&]{8,}/gi,
  /(?<=:\/\/[^\s/@:]*:)[^\s/@]+(?=@)/g,
];

/**
 * Blanks out `secrets` wherever they stand in `text`, and besides them what looks like a key: vendor
 * prefixes, bearer tokens, key headers and passwords in URLs.
 */
export function redactSecrets(text: string, secrets: Iterable<string> = []): string {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minimumLength)
    // A secret that contains another must go first, or its rest stays.
    .sort((a, b) => b.length - a.length);
  let result = text;
  for (const secret of known) {
    result = result.replaceAll(secret, mark).replaceAll(encodeURIComponent(secret), mark);
  }
  for (const pattern of patterns) result = result.replace(pattern, mark);
  return result;
}
