import { MatchThread } from "./match-thread.ts";

/**
 * The one thread of this process. This is module state on purpose: otherwise, a hundred sessions in
 * one process would have a hundred threads, each with its own engine.
 */
let shared: MatchThread | undefined;

/** The thread that all sessions of this process share. */
export function sharedMatchThread(): MatchThread {
  shared ??= new MatchThread();
  return shared;
}
