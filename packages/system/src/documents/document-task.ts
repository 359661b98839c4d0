/** A document to read in a separate thread. */
export type DocumentTask =
  | { readonly kind: "html"; readonly html: string; readonly url: string }
  | {
      readonly kind: "pdf";
      readonly bytes: Uint8Array;
      /** The pages to read, from 1; all by default. */
      readonly first?: number | undefined;
      readonly last?: number | undefined;
      readonly maxPages: number;
    };

/** The text of a document, or why it could not be read, as a clause. */
export type DocumentAnswer =
  | { readonly kind: "page"; readonly title: string; readonly markdown: string }
  | { readonly kind: "pages"; readonly pages: readonly string[]; readonly total: number }
  | { readonly kind: "failed"; readonly reason: string };
