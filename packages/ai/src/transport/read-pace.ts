import type { Agent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** From this number of replies on, a core that reads each delta by itself is half busy (rows `many-sessions`). */
const manyReplies = 100;

/** How long nothing is read after a read; shorter than what a reader of text notices as a pause. */
const restMs = 46;

/** To be called for each piece of a reply: calls `passOn` now, or once for all pieces that were read together. */
export type FollowedReply = (passOn: () => void) => void;

/** Sockets that were read within this time are read again together. */
const togetherMs = 5;

/**
 * Lets the deltas of many replies gather, so that a host reads several of each at once: most of what a delta costs is
 * the same for a read of several. Of few replies, each delta is read when it arrives.
 */
export class ReadPace {
  readonly #connections = new WeakMap<Socket, PacedConnection>();
  /** What each read fills; the HTTP parser copies what it passes on. */
  #buffer: Buffer | undefined;
  #replies = 0;
  #resting: PacedConnection[] = [];
  #restingSince = Number.NEGATIVE_INFINITY;

  /** Whether deltas gather now. */
  get gathers(): boolean {
    return this.#replies >= manyReplies;
  }

  /** Lets an agent's connections be read at this pace. */
  applyTo(agent: Agent): void {
    const connect = agent.createConnection;
    agent.createConnection = (options, callback) => {
      const connection = new PacedConnection((resting) => this.#rest(resting));
      this.#buffer ??= Buffer.allocUnsafeSlow(64 * 1024);
      const buffer = this.#buffer;
      const onread = {
        buffer,
        callback: (length: number) => connection.read(buffer.subarray(0, length)),
      };
      const socket = connect.call(
        agent,
        { ...options, onread } as typeof options,
        callback,
      ) as Socket;
      this.#connections.set(socket, connection);
      connection.open(socket);
      return socket;
    };
  }

  /** Counts a reply until it has ended. */
  follow(reply: IncomingMessage): FollowedReply {
    const { socket } = reply;
    const connection = this.#connections.get(socket);
    // Otherwise, each read restarts the timer that closes idle connections; the agent sets it once the reply has ended.
    socket.setTimeout(0);
    this.#replies += 1;
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#replies -= 1;
      // The next reply on this connection must not wait for the rest of this one.
      connection?.wake();
    };
    reply.once("end", end).once("close", end);
    let due: (() => void) | undefined;
    const passDue = (): void => {
      const passOn = due;
      due = undefined;
      passOn?.();
    };
    return (passOn) => {
      if (!this.gathers || hasEnded) {
        passOn();
        return;
      }
      connection?.rest();
      if (due === undefined) setImmediate(passDue);
      due = passOn;
    };
  }

  #rest(socket: PacedConnection): void {
    const now = performance.now();
    if (now - this.#restingSince > togetherMs) {
      this.#restingSince = now;
      const resting: PacedConnection[] = [];
      this.#resting = resting;
      setTimeout(() => {
        for (const each of resting) each.wake();
      }, restMs);
    }
    this.#resting.push(socket);
  }
}

/**
 * A connection that can rest after a read. Meanwhile its bytes stay in the kernel, so that they take one read, one
 * call of the HTTP parser, and so on.
 */
class PacedConnection {
  readonly #onRest: (connection: PacedConnection) => void;
  #socket: Socket | undefined;
  #restsNext = false;
  #isResting = false;

  constructor(onRest: (connection: PacedConnection) => void) {
    this.#onRest = onRest;
  }

  /** Takes the socket, whose reader asks for more after each piece by resuming it. */
  open(socket: Socket): void {
    this.#socket = socket;
    const { resume } = socket;
    socket.resume = () => {
      if (this.#isResting && !socket.isPaused()) return socket;
      this.#isResting = false;
      return resume.call(socket);
    };
  }

  /** Rests after the current read. */
  rest(): void {
    this.#restsNext = true;
  }

  /** Reads again, if it rests. */
  wake(): void {
    this.#restsNext = false;
    if (!this.#isResting) return;
    this.#isResting = false;
    const socket = this.#socket;
    if (socket !== undefined && !socket.destroyed && !socket.isPaused()) socket.resume();
  }

  /** Passes on what was read; false stops reading. */
  read(bytes: Uint8Array): boolean {
    this.#socket?.emit("data", bytes);
    if (!this.#restsNext) return true;
    this.#restsNext = false;
    if (!this.#isResting) {
      this.#isResting = true;
      this.#onRest(this);
    }
    return false;
  }
}
