/**
 * A share of an amount in cents, rounded to the nearest cent.
 *
 * @example shareOf(1000, 1, 3) // 333
 */
export function shareOf(cents, part, whole) {
  return Math.round((cents * part) / whole);
}

/**
 * An amount as people read it.
 *
 * @example formatCents(123450) // "1,234.50"
 */
export function formatCents(cents) {
  const sign = cents < 0 ? "-" : "";
  const [units, fraction] = (Math.abs(cents) / 100).toFixed(2).split(".");
  return `${sign}${units.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction}`;
}
