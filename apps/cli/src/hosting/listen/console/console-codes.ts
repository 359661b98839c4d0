import { randomBytes } from "node:crypto";
import { tokenCheck } from "../token.ts";

const CODE_BYTES = 16;
const TOKEN_BYTES = 32;
const CODE_MS = 5 * 60_000;

/** One-time codes for the console, and the tokens that pages received for them; both are valid until the host ends. */
export class ConsoleCodes {
  #codes: { readonly isCode: (given: string) => boolean; readonly until: number }[] = [];
  readonly #tokens: ((given: string) => boolean)[] = [];
  readonly #now: () => number;

  /** @param now - a monotonic clock in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A code that is valid once, within five minutes. */
  issue(): string {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    this.#codes.push({ isCode: tokenCheck(code), until: this.#now() + CODE_MS });
    return code;
  }

  /** The token for a code; undefined if the code is wrong, used or expired. */
  redeem(code: string): string | undefined {
    const now = this.#now();
    this.#codes = this.#codes.filter(({ until }) => until > now);
    const found = this.#codes.find(({ isCode }) => isCode(code));
    if (found === undefined) return undefined;
    this.#codes = this.#codes.filter((one) => one !== found);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    this.#tokens.push(tokenCheck(token));
    return token;
  }

  isToken(given: string): boolean {
    return this.#tokens.some((isToken) => isToken(given));
  }
}
