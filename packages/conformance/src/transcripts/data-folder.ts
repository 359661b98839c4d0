/** Where the bundle of the CLI has the data, seen from itself; set by its build. */
declare const CONFORMANCE_DATA: string | undefined;

export const dataFolder = new URL(
  typeof CONFORMANCE_DATA === "undefined" ? "../../data/" : CONFORMANCE_DATA,
  import.meta.url,
);
