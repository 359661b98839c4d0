import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { UserMessage } from "@tau-agent/rpc-protocol/messages";
import { utf8 } from "./branch-context.ts";
import { userTextIn } from "./scan/index.ts";
import type { RoleFilter, SessionTree } from "./session-tree.ts";

/** Most sessions need only the first batch. */
const [FIRST_BYTES, BATCH_BYTES] = [8 * 1024, 64 * 1024];

/** A user's text, and the entry from which it can be sent again. */
export interface UserText {
  readonly entryId: string;
  readonly text: string;
}

/** The text of a user message without its attachments. */
export function userText({ content, attachments = [] }: UserMessage): string {
  if (typeof content === "string") return content;
  // Each attachment became one of the last blocks; files of other programs may differ.
  const attachedFrom = content.length - attachments.length;
  return content
    .map((block, index) => {
      if (block.type !== "text") return "";
      return index >= attachedFrom && block.text.startsWith("<file name=") ? "" : block.text;
    })
    .join("");
}

/** The message of an entry if it is from the user. */
export function userMessageOf(entry: SessionEntry): UserMessage | undefined {
  const known = entry as KnownSessionEntry;
  return known.type === "message" && known.message.role === "user" ? known.message : undefined;
}

/** The user messages of the current branch, oldest first. */
export class UserTexts {
  readonly #tree: SessionTree;
  readonly #leafId: string | null;
  readonly #length: number;
  #json: readonly Buffer[] | undefined;

  constructor(tree: SessionTree) {
    this.#tree = tree;
    this.#leafId = tree.leafId;
    this.#length = tree.length;
  }

  /** Whether these are still the texts of the tree's current branch. */
  isOf(tree: SessionTree): boolean {
    return tree === this.#tree && tree.leafId === this.#leafId && tree.length === this.#length;
  }

  /**
   * The texts as the bytes of a JSON list. Texts of usual messages are copied from their file, and not
   * parsed (row `session-fork-messages`). The bytes live as long as this object.
   */
  get json(): readonly Buffer[] {
    this.#json ??= this.#write();
    return this.#json;
  }

  #write(): readonly Buffer[] {
    const batches: Buffer[] = [];
    let batch = Buffer.allocUnsafeSlow(FIRST_BYTES);
    let filled = 0;
    const endBatch = (wanted: number) => {
      batches.push(utf8(batch.subarray(0, filled)));
      batch = Buffer.allocUnsafeSlow(Math.max(Math.min(2 * batch.length, BATCH_BYTES), wanted));
      filled = 0;
    };
    let before = "[";
    for (const { entryId, text } of this.#found()) {
      // One write for everything between two texts: each write takes longer than its bytes.
      const head = `${before}{"entryId":${JSON.stringify(entryId)},"text":`;
      const shown = typeof text === "string" ? Buffer.from(JSON.stringify(text)) : text;
      // A character has at most three bytes, and two are reserved for the end.
      const most = 3 * head.length + shown.length + 2;
      if (filled + most > batch.length) endBatch(most);
      filled += batch.write(head, filled);
      filled += shown.copy(batch, filled);
      before = "},";
    }
    filled += batch.write(before === "[" ? "[]" : "}]", filled);
    batches.push(utf8(batch.subarray(0, filled)));
    return batches;
  }

  /** Like the method of a list. */
  map<Result>(change: (text: UserText) => Result): Result[] {
    return this.toJSON().map((text) => change(text));
  }

  toJSON(): UserText[] {
    return Array.from(this.#found(), ({ entryId, text }) => ({
      entryId,
      text: typeof text === "string" ? text : JSON.parse(text.toString()),
    }));
  }

  /** The texts, or their JSON as stored in the file. */
  *#found(): Generator<{ readonly entryId: string; readonly text: string | Buffer }> {
    const tree = this.#tree;
    for (const position of tree.branchPositions(this.#leafId, isUsers)) {
      if (tree.roleAt(position) === undefined) {
        const entry = tree.at(position) as SessionEntry;
        const message = userMessageOf(entry);
        if (message !== undefined) yield { entryId: entry.id, text: userText(message) };
      } else {
        const message = tree.messageBytes(position);
        const text = userTextIn(message) ?? userText(JSON.parse(message.toString()));
        yield { entryId: tree.idAt(position), text };
      }
    }
  }
}

const isUsers: RoleFilter = (role) => role === undefined || role === "user";
