/** Imports by name: in a bundle, the dynamic import of a CommonJS package has only a default export. */
export { Compute, GoogleAuth } from "google-auth-library";
