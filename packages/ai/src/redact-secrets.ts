const secretText = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk|gsk|xai|csk|nvapi|hf|r8|ghp|gho|github_pat)[-_][\w-]{12,}`,
    String.raw`\bAIza[\w-]{20,}`,
    String.raw`(?<=\bBearer\s+)[\w.~+/=-]{8,}`,
    String.raw`(?<=[?&](?:key|api_key|access_token)=)[^&\s"']+`,
    String.raw`(?<=(?:x-api-key|x-goog-api-key|authorization)["']?\s*[:=]\s*["']?)(?!Bearer\b)[\w.~+/=-]{8,}`,
    // The password in a URL, such as that of a proxy or of a store.
    String.raw`(?<=:\/\/[^\s/:@"']*:)[^\s/@"']+(?=@)`,
  ].join("|"),
  "gi",
);

/** Replaces text that looks like a key or token. */
export function redactSecrets(text: string): string {
  return text.replace(secretText, "[redacted]");
}

/** Shorter ones would hit ordinary words; real keys are longer. */
const MIN_SECRET_LENGTH = 6;

/** Replaces known secrets, including their URL-encoded form. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [
      secret,
      secret.replace(/^Bearer\s+/i, ""),
      encodeURIComponent(secret.toWellFormed()),
    ])
    // Longer secrets first: a secret may contain another, whose replacement would leave the rest.
    .sort((one, other) => other.length - one.length);
  return forms.reduce((shown, form) => shown.replaceAll(form, "[redacted]"), text);
}
