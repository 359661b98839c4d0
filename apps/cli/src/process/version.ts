/** The version of this host; kept equal to package.json by a test. */
export const VERSION = "0.1.0";

/**
 * The release of pi that this host replaces. Clients and extensions of pi refuse
 * to work with an older one: `pi --version` says it, and extensions read it as the version of their host.
 */
export const FAMILY_VERSION = "1.5.2";
