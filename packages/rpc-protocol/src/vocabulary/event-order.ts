import * as z from "zod/mini";
import type { SessionEvent } from "./session-event.ts";

/** What every frame but a response has after `initialize`: its cause and its place. */
export const eventOrder = {
  /** The prompt whose run the event belongs to; sent after `initialize`. */
  promptId: z.optional(z.string()),
  /** Its number in the session, rising from 1; sent after `initialize`. */
  seq: z.optional(z.number()),
};

/** Which prompt an event belongs to, and its place among the events of its session. */
export interface EventOrder {
  /** Rises by one with each event of a session, from 1. */
  readonly seq: number;
  /** The prompt whose run it belongs to; undefined outside of runs. */
  readonly promptId?: string | undefined;
}

/** An event as a client receives it: before `initialize`, and from older hosts, without its place. */
export type ClientEvent = SessionEvent & Partial<EventOrder>;
