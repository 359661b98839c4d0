// Days are "YYYY-MM-DD" texts: an office has no time zones.

/**
 * Splits a day into its numbers.
 *
 * @example parseDay("2026-04-16") // { year: 2026, month: 4, day: 16 }
 */
export function parseDay(text) {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) throw new RangeError(`not a day: ${text}`);
  const [year, month, day] = match.slice(1).map(Number);
  return { year, month, day };
}

/**
 * How many days a month has; `month` counts from 1.
 *
 * @example daysInMonth(2026, 4) // 30
 */
export function daysInMonth(year, month) {
  // Day 0 is the last day of the month before.
  return new Date(Date.UTC(year, month - 1, 0)).getUTCDate();
}

/**
 * Whether two days are in the same month.
 *
 * @example isSameMonth("2026-04-01", "2026-04-30") // true
 */
export function isSameMonth(first, second) {
  return first.slice(0, 7) === second.slice(0, 7);
}
