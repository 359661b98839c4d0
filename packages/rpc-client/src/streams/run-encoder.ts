import type { RunPart, RunPlace, ShownRequest, StreamEvent } from "./run-part.ts";
import { RunReader } from "./run-reader.ts";

/** Converts the events of a session to the parts of another protocol, one at a time. */
export interface RunEncoder<Part> {
  /** Sets the requests that were open when the events began, and how much of the run another stream has shown. */
  takeUp(requests: readonly ShownRequest[], place?: RunPlace): void;
  /** How much of the run was shown. */
  readonly place: RunPlace;
  push(event: StreamEvent): Part[];
  /** How many runs have ended or paused so far. */
  readonly endedRuns: number;
  /** The events have ended. If the run waits for answers, the encoder can continue with later events. */
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

/** Passes on the parts of runs unchanged, for streams of other protocols. */
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
