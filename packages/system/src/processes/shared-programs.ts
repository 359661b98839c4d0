import { ProcessRegistry } from "./process-registry.ts";

interface Closable {
  close(): Promise<void>;
}

/** One user's share of a program. */
export interface Share<Program> {
  readonly program: Program;
  /** The last user to leave ends the program. */
  leave(): Promise<void>;
}

/**
 * Starts a program.
 *
 * @param processes tracks the processes that the program starts
 * @param onGone to be called when the program can no longer be joined
 */
export type StartProgram<Program> = (processes: ProcessRegistry, onGone: () => void) => Program;

/** Programs that several sessions of a host share. Each starts with its first user and ends with its last. */
export class SharedPrograms<Program extends Closable> {
  readonly #known = new Map<string, { readonly program: Program; users: number }>();
  /** Not a session's registry: the programs outlive the session that started them. */
  readonly #processes = new ProcessRegistry();
  #running = 0;

  /**
   * Joins the program with this key, and starts it if it is not running.
   *
   * @param key - everything that distinguishes one program from another
   */
  join(key: string, start: StartProgram<Program>): Share<Program> {
    const shared = this.#known.get(key) ?? this.#start(key, start);
    shared.users += 1;
    let isUser = true;
    const leave = async (): Promise<void> => {
      if (!isUser) return;
      isUser = false;
      shared.users -= 1;
      if (shared.users > 0) return;
      if (this.#known.get(key) === shared) this.#known.delete(key);
      await shared.program.close().finally(() => this.#ended());
    };
    return { program: shared.program, leave };
  }

  /** Without running programs no watchdog is needed. */
  #ended(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#processes.killAll();
  }

  #start(key: string, start: StartProgram<Program>) {
    const onGone = (): void => {
      if (this.#known.get(key) === shared) this.#known.delete(key);
    };
    const shared = { program: start(this.#processes, onGone), users: 0 };
    this.#known.set(key, shared);
    this.#running += 1;
    return shared;
  }
}
