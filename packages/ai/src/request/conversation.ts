/** What one message, or several of one role in a row, become. */
export interface Turn<Block> {
  readonly role: "user" | "assistant";
  /** Results of tool calls: vendors want all of them together, right after their calls. */
  readonly results: Block[];
  readonly rest: Block[];
}

/** A turn as it is sent. */
export interface ClosedTurn<Block> {
  readonly role: Turn<Block>["role"];
  readonly content: Block[];
}

/** Turns of a conversation in which neighbours of one role are one turn. */
export interface Conversation<Block> {
  readonly closed: ClosedTurn<Block>[];
  /** The last turn, which a neighbour of its role is still added to. */
  open: Turn<Block> | undefined;
}

/** Adds a turn, to the last one if that has its role; one without blocks is left out. */
export function appendTurn<Block>(conversation: Conversation<Block>, turn: Turn<Block>): void {
  if (turn.results.length + turn.rest.length === 0) return;
  const { open } = conversation;
  if (open?.role === turn.role) {
    open.results.push(...turn.results);
    open.rest.push(...turn.rest);
    return;
  }
  if (open !== undefined) conversation.closed.push(closeTurn(open));
  conversation.open = turn;
}

/** All turns; the open one stays open. */
export function turnsOf<Block>({ closed, open }: Conversation<Block>): ClosedTurn<Block>[] {
  return open === undefined ? [...closed] : [...closed, closeTurn(open)];
}

function closeTurn<Block>({ role, results, rest }: Turn<Block>): ClosedTurn<Block> {
  return { role, content: [...results, ...rest] };
}
