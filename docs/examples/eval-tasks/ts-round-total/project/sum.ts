export function total(amounts: readonly number[], decimals = 2): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
