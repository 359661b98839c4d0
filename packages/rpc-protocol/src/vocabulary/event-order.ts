import * as z from "zod/mini";
import type { SessionEvent } from "./session-event.ts";

/** Members that every frame except responses has after `initialize`: its cause and its order. */
export const eventOrder = {
  /** The prompt whose run the event belongs to; sent after `initialize`. */
  promptId: z.optional(z.string()),
  /** Its number in the session, rising from 1; sent after `initialize`. */
  seq: z.optional(z.number()),
};

/** The prompt to which an event belongs, and its order among the events of its session. */
export interface EventOrder {
  /** Rises by one with each event of a session, from 1. */
  readonly seq: number;
  /** The prompt whose run it belongs to; undefined outside of runs. */
  readonly promptId?: string | undefined;
}

/** An event as a client receives it; before `initialize`, and from older hosts, without its order. */
export type ClientEvent = SessionEvent & Partial<EventOrder>;
