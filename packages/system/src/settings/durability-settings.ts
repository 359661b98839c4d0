import { choice, count, period } from "./setting.ts";

/** What a session keeps if its host dies, and how long a prompt may run at a time (decisions 63 and 64). */
export const durabilitySettings = {
  durability: choice(
    ["log", "effects"],
    "log",
    "What survives the death of a host: the conversation (log), or also what its tools do, each of it once (effects).",
  ),
  "session.fsync": choice(
    ["none", "turn", "entry"],
    "none",
    "How often session files are flushed to disk, to survive power cuts; entry with durability effects.",
  ),
  durabilityAdoptMs: period(
    60_000,
    "How long a command waits for the next host when its own has died, with durability effects, in ms.",
  ),
  maxTurns: count(undefined, "The most replies of a prompt before it pauses; no limit by default."),
};
