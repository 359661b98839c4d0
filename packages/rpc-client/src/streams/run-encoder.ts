import type { RunPart, RunPlace, ShownRequest, StreamEvent } from "./run-part.ts";
import { RunReader } from "./run-reader.ts";

/** Turns the events of a session into the parts of another protocol, one at a time. */
export interface RunEncoder<Part> {
  /** Takes up the requests that were open when the events began, and how far another stream has shown the run. */
  takeUp(requests: readonly ShownRequest[], place?: RunPlace): void;
  /** How far the run was shown. */
  readonly place: RunPlace;
  push(event: StreamEvent): Part[];
  /** How many runs have ended or paused so far. */
  readonly endedRuns: number;
  /** The events have ended. An encoder whose run waits for answers goes on with the events after them. */
  end(): Part[];
}

export function encoderOf<Part>(encode: (part: RunPart) => Part[]): RunEncoder<Part> {
  const reader = new RunReader();
  return {
    takeUp: (requests, place) => reader.takeUp(requests, place),
    get place() {
      return reader.place;
    },
    get endedRuns() {
      return reader.endedRuns;
    },
    push: (event) => reader.push(event).flatMap(encode),
    end: () => reader.end().flatMap(encode),
  };
}

/** The parts of runs as they are, for streams of other protocols. */
export function runPartEncoder(): RunEncoder<RunPart> {
  return encoderOf((part) => [part]);
}

export async function* encodeAll<Part>(
  events: AsyncIterable<StreamEvent>,
  encoder: RunEncoder<Part>,
): AsyncGenerator<Part, void> {
  for await (const event of events) yield* encoder.push(event);
  yield* encoder.end();
}
