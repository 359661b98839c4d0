import { daysInMonth, isSameMonth, parseDay } from "./calendar.js";
import { shareOf } from "./money.js";

/**
 * What a month's rent comes to when a desk is taken from one day to another of that month, both
 * included.
 *
 * @example prorate(31000, "2026-08-01", "2026-08-10") // 10000
 */
export function prorate(monthlyCents, from, to) {
  if (!isSameMonth(from, to)) throw new RangeError(`${from} and ${to} are in different months`);
  const { year, month, day: first } = parseDay(from);
  const last = parseDay(to).day;
  return shareOf(monthlyCents, last - first + 1, daysInMonth(year, month));
}
