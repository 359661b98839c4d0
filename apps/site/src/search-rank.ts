/**
 * How much a page counts in the search: what explains comes before what lists. The site's code calls it in
 * the browser from its source, so it uses nothing from outside.
 *
 * @param id - the address of the page, and the heading
 */
export function searchRank(id: string): number {
  if (/^\/(?:[\w-]+\/)*api\//.test(id)) return 0.001;
  if (
    /\/(?:decisions|example)\/|\/(?:performance-[a-z]+|contributing|protocol-reference)(?:\.html)?(?:#|$)/.test(
      id,
    )
  )
    return 0.3;
  return 1;
}
