/** The data folder, relative to the bundle of the CLI; the build sets it. */
declare const CONFORMANCE_DATA: string | undefined;

export const dataFolder = new URL(
  typeof CONFORMANCE_DATA === "undefined" ? "../../data/" : CONFORMANCE_DATA,
  import.meta.url,
);
