const secretText =
  /\b(?:sk|pk|rk|gsk|xai|csk|nvapi|hf|r8|ghp|gho|github_pat)[-_][\w-]{12,}|\bAIza[\w-]{20,}|(?<=\bBearer\s+)[\w.~+/=-]{8,}|(?<=[?&](?:key|api_key|access_token)=)[^&\s"']+|(?<=(?:x-api-key|x-goog-api-key|authorization)["']?\s*[:=]\s*["']?)(?!Bearer\b)[\w.~+/=-]{8,}/gi;

/** Replaces what looks like a key or token. */
export function redactSecrets(text: string): string {
  return text.replace(secretText, "[redacted]");
}
