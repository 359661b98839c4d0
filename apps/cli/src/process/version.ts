/** The version of this host; a test compares it with package.json. */
export const VERSION = "0.0.0";

/**
 * The release of pi whose extensions run here. Extensions read it as the version of their host and refuse an
 * older one.
 */
export const PI_VERSION = "1.5.2";

/**
 * The version that the command `pi` prints: the newest release of pi whose published client works on the
 * default dialect. Newer clients need `pi-1`.
 */
export const PI_CLIENT_VERSION = "0.87.1";
