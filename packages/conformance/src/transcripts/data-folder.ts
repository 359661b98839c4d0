/** Where the bundle of the CLI has the data, seen from itself; set by its build. */
declare const CONFORMANCE_DATA: string | undefined;

/** The folder of the transcripts and of the extensions and models they name. */
export const dataFolder = new URL(
  typeof CONFORMANCE_DATA === "undefined" ? "../../data/" : CONFORMANCE_DATA,
  import.meta.url,
);
