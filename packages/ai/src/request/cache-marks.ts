/** The position of a block: its message and its index in the message. */
export interface Place {
  readonly message: number;
  readonly block: number;
}

/** How marks are applied to the messages of a wire format. */
export interface MarkRules<Message> {
  /** Whether the message is input for the model instead of the model's own; undefined for instructions. */
  readonly isRead: (message: Message) => boolean | undefined;
  /** For each block that the vendor counts, whether it can be marked. */
  readonly marks: (message: Message) => readonly boolean[];
}

/** A vendor looks at most 20 blocks back from a mark for a cached prefix, including the marked block. */
const mostBack = 18;

/**
 * The positions to mark in a request, for caches that store prefixes ending at marks and look only a few
 * blocks back from each mark. They are the end of this request, the end of the previous one, whose whole
 * prefix is cached, and a position in between if the step is long. Returns at most three, in order.
 */
export function markedPlaces<Message>(
  messages: readonly Message[],
  { isRead, marks }: MarkRules<Message>,
): Place[] {
  let newest: Place | undefined;
  let between: Place | undefined;
  /** The distance from the newest mark. */
  let distance = 0;
  let hasReply = false;
  for (let message = messages.length - 1; message >= 0; message--) {
    const given = messages[message];
    if (given === undefined) continue;
    const isInput = isRead(given);
    const blocks = marks(given);
    for (let block = blocks.length - 1; block >= 0; block--) {
      const place = { message, block };
      if (newest !== undefined) distance += 1;
      if (blocks[block] !== true) continue;
      if (newest === undefined) newest = place;
      else if (hasReply && isInput) return inOrder(place, distance > mostBack && between, newest);
      else if (distance <= mostBack) between = place;
    }
    hasReply ||= newest !== undefined && isInput === false;
  }
  return newest === undefined ? [] : inOrder(undefined, distance >= mostBack && between, newest);
}

function inOrder(...places: readonly (Place | false | undefined)[]): Place[] {
  return places.filter((place) => typeof place === "object");
}
