/** By name: in a bundle, the dynamic import of a CommonJS package has a default export only. */
export { Compute, GoogleAuth } from "google-auth-library";
