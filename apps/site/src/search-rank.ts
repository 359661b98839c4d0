/**
 * The weight of a page in the search: explanations rank above lists. The site runs this function in the
 * browser from its source text, so it must not use anything outside itself.
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
