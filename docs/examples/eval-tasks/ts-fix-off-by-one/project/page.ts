/** The items of a page; pages count from 1. */
export function pageOf<Item>(items: readonly Item[], page: number, size: number): Item[] {
  const start = (page - 1) * size;
  return items.slice(start, start + size + 1);
}
