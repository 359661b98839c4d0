import { type DialectRules, documented } from "./dialect.ts";

/** The default: sends the host's frames as they are. */
export const pi: DialectRules = { encode: (frame, context) => [documented(frame, context)] };
