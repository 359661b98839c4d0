import { type Html, html } from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { OutputSanitizer } from "@tau-agent/system";

/** `1234` as `1.2k`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1000).toFixed(count < 99_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** US dollars; small amounts keep two significant digits. */
export function formatCost(dollars: number): string {
  return `$${dollars.toFixed(dollars >= 1 || dollars === 0 ? 2 : dollars >= 0.01 ? 3 : 4)}`;
}

/** A finite number, or 0. */
export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** A time in ISO form; undefined for an invalid one. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Tokens and cost of one call; nothing when none were counted. */
export function usageFacts(usage: unknown): Html | undefined {
  if (!isJsonObject(usage)) return undefined;
  const cached = numberOf(usage.cacheRead);
  const written = numberOf(usage.cacheWrite);
  const input = numberOf(usage.input);
  const output = numberOf(usage.output);
  if (input + output + cached + written === 0) return undefined;
  const cost = isJsonObject(usage.cost) ? numberOf(usage.cost.total) : 0;
  const parts = [`${formatCount(input + cached + written)} in`, `${formatCount(output)} out`];
  if (cached > 0) parts.push(`${formatCount(cached)} cached`);
  if (cost > 0) parts.push(formatCost(cost));
  return html`<span class="usage">${parts.join(" · ")}</span>`;
}

/** Output of a program without codes that only a terminal understands. */
export function terminalText(text: string): string {
  return new OutputSanitizer().push(text.replace(/\r\n?/g, "\n"));
}

/** A value as indented JSON, or why there is none. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** The first non-empty line of `text`, at most `length` characters of it. */
export function snippet(text: string, length: number): string {
  const line = text
    .slice(0, length * 8)
    .trim()
    .split(/\s+/)
    .join(" ");
  return line.length > length
    ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`
    : line;
}

export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.endsWith("\n") ? lines - 1 : lines;
}

/**
 * A field as text, whatever a file contains in its place: an object may have members that prevent
 * its conversion to text.
 */
export function fieldText(value: unknown): string {
  return typeof value === "object" && value !== null ? "" : String(value);
}
