import { colon, dot, minus, quote } from "./json-bytes.ts";

/** The length of a date as `toISOString` writes it, with its quotes. */
export const TIME_LENGTH = '"2026-01-01T00:00:00.000Z"'.length;
const DAY_MS = 86_400_000;
const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const daysIn = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The time of a date between the years 1970 and 9999, as `toISOString` writes it, in milliseconds; NaN for any other
 * text. Parsing every date with `Date.parse` would take a third of the time of the row "100 000 entries: spawn".
 */
export function timeAt(bytes: Uint8Array, at: number): number {
  const year = two(bytes, at + 1) * 100 + two(bytes, at + 3);
  const month = two(bytes, at + 6) - 1;
  const day = two(bytes, at + 9);
  const hours = two(bytes, at + 12);
  const minutes = two(bytes, at + 15);
  const seconds = two(bytes, at + 18);
  const lastDigits = two(bytes, at + 22);
  const milliseconds = two(bytes, at + 21) * 10 + (lastDigits % 10);
  const isDate =
    day >= 1 && day <= (daysIn[month] ?? 0) && hours < 24 && minutes < 60 && seconds < 60;
  if (
    !isDate ||
    year < 1970 ||
    year > 9999 ||
    milliseconds > 999 ||
    lastDigits > 99 ||
    !hasMarks(bytes, at)
  ) {
    return Number.NaN;
  }
  const leapYears = year - (month < 2 ? 1 : 0);
  const leapDays =
    Math.floor(leapYears / 4) - Math.floor(leapYears / 100) + Math.floor(leapYears / 400) - 477;
  const days = (year - 1970) * 365 + leapDays + (daysBefore[month] ?? 0) + day - 1;
  return days * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
}

/** Whether the separators between the digits of a date are right. */
function hasMarks(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === quote &&
    bytes[at + 5] === minus &&
    bytes[at + 8] === minus &&
    bytes[at + 11] === 0x54 &&
    bytes[at + 14] === colon &&
    bytes[at + 17] === colon &&
    bytes[at + 20] === dot &&
    bytes[at + 24] === 0x5a &&
    bytes[at + 25] === quote
  );
}

/** A number of two digits; too large for any part of a date if a byte is not a digit. */
function two(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - 0x30;
  const ones = (bytes[at + 1] as number) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 100_000;
}
