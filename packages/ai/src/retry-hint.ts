type HeaderReader = Pick<Headers, "get">;

/** The parts of a response that may say how long to wait. */
export interface RetryHintSource {
  readonly headers?: HeaderReader | undefined;
  /** The parsed body. */
  readonly body?: unknown;
  readonly text?: string | undefined;
  /** Whether the error is a rate limit; only then do headers about the limit's window count. */
  readonly isRateLimit?: boolean | undefined;
}

/**
 * How long a vendor asks to wait, in ms. Sources in order: `retry-after-ms`, `retry-after` (seconds or a date),
 * members of the body (Google's `RetryInfo`), the error's text, and headers with the reset time of a limit.
 */
export function readRetryAfter(source: RetryHintSource, now = Date.now()): number | undefined {
  const { headers, body, text = "", isRateLimit = true } = source;
  return (
    fromHeaders(headers, now) ??
    fromBody(body, 0, now) ??
    fromText(text) ??
    (isRateLimit ? fromResetHeaders(headers, now) : undefined)
  );
}

/**
 * When an exhausted plan can be used again, in ms from now; undefined if nothing says so. If there are
 * several limits, the latest reset counts, because the response does not say which was reached. Hints in text
 * or of less than a minute belong to rate limits: an empty account does not refill by itself.
 */
export function readReset(
  { headers, body }: Pick<RetryHintSource, "headers" | "body">,
  now = Date.now(),
): number | undefined {
  const asked = readRetryAfter({ headers, body }, now) ?? 0;
  if (asked >= LEAST_RESET_MS) return asked;
  const waits = planHeaders.map((name) => fromTime(headers?.get(name), now) ?? 0);
  const last = Math.max(...waits);
  return last >= LEAST_RESET_MS ? last : undefined;
}

const LEAST_RESET_MS = 60_000;

/** Headers of every response; they are relevant only once a limit is reached. */
const planHeaders = [
  ...["requests", "tokens", "input-tokens", "output-tokens"].map(
    (what) => `anthropic-ratelimit-${what}-reset`,
  ),
  ...["unified-5h", "unified-7d"].map((what) => `anthropic-ratelimit-${what}-reset`),
  ...["primary", "secondary"].map((what) => `x-codex-${what}-reset-after-seconds`),
];

function fromHeaders(headers: HeaderReader | undefined, now: number): number | undefined {
  const precise = amount(headers?.get("retry-after-ms"), 1);
  if (precise !== undefined) return precise;
  const plain = headers?.get("retry-after") ?? "";
  const seconds = amount(plain, 1000);
  if (seconds !== undefined) return seconds;
  // A date contains letters; Date.parse would also accept "-5".
  const date = /[a-z]/i.test(plain) ? Date.parse(plain) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function amount(text: string | null | undefined, factor: number): number | undefined {
  if (!/^\s*\d+(?:\.\d+)?\s*$/.test(text ?? "")) return undefined;
  const value = Number(text) * factor;
  return Number.isFinite(value) ? value : undefined;
}

/** Members of error bodies with a delay, and the length of their unit in ms. */
const bodyMembers: Readonly<Record<string, number>> = {
  retryDelay: 1000,
  retry_after_ms: 1,
  retry_after: 1000,
  retry_after_seconds: 1000,
  resets_in_seconds: 1000,
};

/** Members of error bodies with a time. */
const timeMembers: ReadonlySet<string> = new Set(["resets_at", "reset_at", "resetsAt", "resetAt"]);

/** Error bodies are shallow; the limit keeps hostile ones cheap. */
const maxDepth = 6;
const maxMembers = 50;

function fromBody(value: unknown, depth: number, now: number): number | undefined {
  if (typeof value !== "object" || value === null || depth > maxDepth) return undefined;
  const members = Object.entries(value).slice(0, maxMembers);
  for (const [name, member] of members) {
    const factor = Object.hasOwn(bodyMembers, name) ? bodyMembers[name] : undefined;
    if (factor === undefined) {
      const wait = timeMembers.has(name) ? fromTime(member, now) : undefined;
      if (wait !== undefined) return wait;
      continue;
    }
    const wait = typeof member === "number" ? member * factor : waitOf(member, factor);
    if (wait !== undefined && wait >= 0 && Number.isFinite(wait)) return wait;
  }
  for (const [, member] of members) {
    const wait = fromBody(member, depth + 1, now);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

function waitOf(member: unknown, factor: number): number | undefined {
  if (typeof member !== "string" || member.length > 40) return undefined;
  return amount(member, factor) ?? readDuration(member);
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const duration = String.raw`\d{1,12}(?:\.\d{1,12})?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)`;
const askedWait = new RegExp(
  String.raw`(?:(?:try|retry)(?: again)? (?:in|after)|wait(?: for)?|"?retryDelay"?:\s*")\s*((?:${duration}[\s,]*(?:and\s)?){1,5})(?![a-z])`,
  "i",
);

/** "Try again in 4.2s", "620ms", "1m30s", "retry after 26 seconds". */
function fromText(text: string): number | undefined {
  const found = askedWait.exec(text.slice(0, 8_000));
  return found?.[1] === undefined ? undefined : readDuration(found[1]);
}

function readDuration(text: string): number | undefined {
  let total: number | undefined;
  for (const [, value, unit = ""] of text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi)) {
    const name = unit.toLowerCase();
    const key = name === "ms" || name.startsWith("milli") ? "ms" : name.slice(0, 1);
    const factor = unitMs[key];
    if (factor === undefined) return undefined;
    total = (total ?? 0) + Number(value) * factor;
  }
  // Fractions of a second are not exact in binary, but 4.2 s must be 4200 ms.
  return total === undefined ? undefined : Math.round(total);
}

function fromResetHeaders(headers: HeaderReader | undefined, now: number): number | undefined {
  for (const name of ["anthropic-ratelimit-unified-reset", "x-ratelimit-reset"]) {
    const wait = fromTime(headers?.get(name), now);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** A time in a vendor's format: a date, or a number. */
function fromTime(value: unknown, now: number): number | undefined {
  if (typeof value === "string" && value.length <= 40 && /^\d{4}-\d\d-\d\dT/.test(value)) {
    const date = Date.parse(value);
    return Number.isNaN(date) ? undefined : Math.max(0, date - now);
  }
  const reset = typeof value === "number" ? value : Number.parseFloat(String(value ?? ""));
  return reset > 0 && Number.isFinite(reset) ? Math.max(0, resetTime(reset, now) - now) : undefined;
}

/** Reset headers contain epoch ms, epoch seconds or seconds from now; the size of the number tells which. */
function resetTime(value: number, now: number): number {
  if (value > 1e11) return value;
  return value > 1e8 ? value * 1000 : now + value * 1000;
}
