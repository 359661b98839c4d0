/** The blocks of one message, or of several consecutive messages of one role. */
export interface Turn<Block> {
  readonly role: "user" | "assistant";
  /** Results of tool calls: vendors require all of them together, right after their calls. */
  readonly results: Block[];
  readonly rest: Block[];
}

/** A turn as it is sent. */
export interface ClosedTurn<Block> {
  readonly role: Turn<Block>["role"];
  readonly content: Block[];
}

/** Turns of a conversation; adjacent messages of one role form one turn. */
export interface Conversation<Block> {
  readonly closed: ClosedTurn<Block>[];
  /** The last turn, to which adjacent messages of its role are still added. */
  open: Turn<Block> | undefined;
}

/** Adds a turn, or extends the last one if the role is the same; a turn without blocks is dropped. */
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

/** All turns; the last one stays open. */
export function turnsOf<Block>({ closed, open }: Conversation<Block>): ClosedTurn<Block>[] {
  return open === undefined ? [...closed] : [...closed, closeTurn(open)];
}

function closeTurn<Block>({ role, results, rest }: Turn<Block>): ClosedTurn<Block> {
  return { role, content: [...results, ...rest] };
}
