const secretText =
  /\b(?:sk|pk|rk|gsk|xai|csk|nvapi|hf|r8|ghp|gho|github_pat)[-_][\w-]{12,}|\bAIza[\w-]{20,}|(?<=\bBearer\s+)[\w.~+/=-]{8,}|(?<=[?&](?:key|api_key|access_token)=)[^&\s"']+|(?<=(?:x-api-key|x-goog-api-key|authorization)["']?\s*[:=]\s*["']?)(?!Bearer\b)[\w.~+/=-]{8,}/gi;

/** Replaces what looks like a key or token. */
export function redactSecrets(text: string): string {
  return text.replace(secretText, "[redacted]");
}

/** Shorter ones would hit ordinary words; real keys are longer. */
const MIN_SECRET_LENGTH = 6;

/** Replaces known secrets, also as they are in a URL. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [
      secret,
      secret.replace(/^Bearer\s+/i, ""),
      encodeURIComponent(secret.toWellFormed()),
    ])
    // One that contains another first, or its rest stays.
    .sort((one, other) => other.length - one.length);
  return forms.reduce((shown, form) => shown.replaceAll(form, "[redacted]"), text);
}
