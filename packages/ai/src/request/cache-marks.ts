/** A block of a conversation by its message and its place in it. */
export interface Place {
  readonly message: number;
  readonly block: number;
}

/** How marks fit into the messages of a wire format. */
export interface MarkRules<Message> {
  /** Whether the model reads the message, as opposed to having written it; undefined for instructions. */
  readonly isRead: (message: Message) => boolean | undefined;
  /** For each block that the vendor counts, whether it can be marked. */
  readonly marks: (message: Message) => readonly boolean[];
}

/** A vendor looks for what it keeps no further back from a mark than 20 blocks, the mark's own included. */
const mostBack = 18;

/**
 * Where a request is marked for caches that keep what ends at a mark, and look for it a few blocks back
 * from each: the end of the request, the end of the one before, whose whole prefix is kept, and, where the
 * step between them is long, a place in it. They are in order, and at most three.
 */
export function markedPlaces<Message>(
  messages: readonly Message[],
  { isRead, marks }: MarkRules<Message>,
): Place[] {
  let newest: Place | undefined;
  let between: Place | undefined;
  /** From the newest mark. */
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
