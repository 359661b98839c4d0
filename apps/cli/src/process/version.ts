/** The version of this host; kept equal to package.json by a test. */
export const VERSION = "0.0.0";

/**
 * The release of pi whose extensions run here. Extensions refuse to work with an older one and read
 * it as the version of their host.
 */
export const PI_VERSION = "1.5.2";

/**
 * What the command `pi` prints as its version: the newest release of pi whose published client works
 * on the default dialect. Newer clients need `pi-1`.
 */
export const PI_CLIENT_VERSION = "0.87.1";
