import type { Dialect } from "./dialect.ts";

/** The default: what the host says is what leaves. */
export const pi: Dialect = { name: "pi", encode: (frame) => [frame] };
